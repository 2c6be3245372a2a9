import { ConfigShape } from '../../packages/server/src/config/config-schema.ts';
import { schemaTable } from './schema-table.ts';

/** Every key of `dragoman.yaml`. */
export function configPage(): string {
  return `${HEADING}\n${schemaTable(ConfigShape, () => undefined)}`;
}

const HEADING = `# Configuration

\`dragoman.yaml\`, in the folder the server is started in or named by \`--config\`. Every key may be left out; \`*\` marks what is
required where its parent is there. \`<name>\` is a name of yours. A bad file is refused with line, column and the fix. For
completion in an editor, put this on its first line:

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/@dragoman/server/schemas/config/dragoman.json
\`\`\`
`;
