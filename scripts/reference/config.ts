import { ConfigShape } from '../../packages/server/src/config/config-schema.ts';
import { SchemaTables } from './schema-table.ts';

/** Every key of `dragoman.yaml`. */
export function configPage(): string {
  return `${HEADING}\n${new SchemaTables(() => undefined).table(ConfigShape, 'the configuration')}`;
}

const HEADING = `# Configuration

\`dragoman.yaml\`, in the folder where the server is started, or given with \`--config\`. Each row has a key, its type, its default and its meaning; a bound
of a string counts characters, of a list items. Every key is
optional; \`*\` marks keys that are required once their parent is present. \`<name>\` is a name of your choice. A value that may refer to a secret is
\`\${NAME}\` (a variable of the environment), \`file:PATH\` (the content of a file) or \`vault:ID\` (a credential of the vault). An invalid file is refused with line, column and the fix. For completion in an editor, make this the first line:

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/@dragoman/server/schemas/config/dragoman.json
\`\`\`
`;
