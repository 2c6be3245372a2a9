import { main } from '../../packages/cli/src/main.ts';
import { FakeSurroundings } from '../../packages/cli/test-support/fake-surroundings.ts';

/** The help text of every command. */
export async function cliPage(): Promise<string> {
  const top = await helpOf([]);
  const sections = await Promise.all(namesIn(top).map((name) => sectionsOf([name])));
  return [HEADING, fenced(top), ...sections.flat()].join('\n');
}

async function sectionsOf(command: readonly string[]): Promise<string[]> {
  const help = await helpOf(command);
  const nested = await Promise.all(namesIn(help).map((name) => sectionsOf([...command, name])));
  return [`${'#'.repeat(command.length + 1)} \`${command.join(' ')}\`\n`, fenced(help), ...nested.flat()];
}

async function helpOf(command: readonly string[]): Promise<string> {
  const surroundings = new FakeSurroundings();
  const code = await main([...command, '--help'], surroundings);
  if (code !== 0) throw new Error(`${command.join(' ')} --help ended with ${code}: ${surroundings.notes}`);
  return surroundings.out.trimEnd();
}

/** The commands below a command. */
function namesIn(help: string): string[] {
  const list = /^Commands:\n((?: .*\n)*)/m.exec(`${help}\n`)?.[1] ?? '';
  return [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name);
}

function fenced(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\`\n`;
}

const HEADING = `# Command line

\`npx dragoman\` from a clone. Every command takes \`--json\` and exits with 0 (done), 1 (failed) or 2 (wrong usage). Output has no colours when piped. \`-\` as a file name reads
stdin.

| variable | |
|---|---|
| \`DRAGOMAN_HOST\`, \`DRAGOMAN_PORT\`, \`DRAGOMAN_DATA\`, \`DRAGOMAN_STORE\` | override the configuration; command-line options override these variables |
| \`DRAGOMAN_ADMIN_KEY\` | the admin key, at least 24 characters; a new value replaces the previous key. Without it, the first start creates a key and shows it once |
| \`DRAGOMAN_VAULT_KEY\` | the vault key. Default: a file in the data folder, mode 600 |
| \`DRAGOMAN_VAULT_KEY_NEXT\` | the next vault key, for \`vault rotate\`: servers that have both keys switch without a restart |
| \`DRAGOMAN_KEY\` | an agent's key, for commands that talk to a server |
`;
