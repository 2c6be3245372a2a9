import { REFERENCES } from '../../packages/core/src/vault/definition.ts';
import { ConfigShape } from '../../packages/server/src/config/config-schema.ts';
import { SchemaTables } from './schema-table.ts';

/** Every key of `dragoman.yaml`. */
export function configPage(): string {
  const table = new SchemaTables(() => undefined).table(ConfigShape, 'the configuration');
  return `${HEADING}\n${table.replaceAll(REFERENCES, 'May refer to secrets.')}`;
}

const HEADING = `# Configuration

\`dragoman.yaml\`, in the folder where the server is started, or given with \`--config\`. Each row has a key, its type with the default in parentheses, and its meaning; the
limits of strings count characters, those of lists items. Every key is optional; \`*\` marks keys that are required once their parent is present. \`<name>\` is a name of your choice. Values that may refer to secrets
take \`\${NAME}\` (an environment variable), \`file:PATH\` (the content of a file) or \`vault:ID\` (a credential of the vault). An invalid file is refused with line, column and the fix. For completion in an editor, make this the first line:

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/@dragoman/server/schemas/config/dragoman.json
\`\`\`
`;
