import { main } from '../../packages/cli/src/main.ts';
import { FakeSurroundings } from '../../packages/cli/test-support/fake-surroundings.ts';

/** Every command, from its own help. Options that many commands have are described once, at the top. */
export async function cliPage(): Promise<string> {
  const top = await helpOf([]);
  const commands = (await Promise.all(namesIn(top).map((name) => commandsFrom([name])))).flat();
  const shared = sharedOptions(commands);
  const table = tableOf([...shared].map(([flags, text]) => ({ flags, text })));
  return [`${HEADING}\n${table}`, ...commands.map((command) => section(command, shared))].join('\n');
}

interface Command {
  readonly name: string;
  readonly help: string;
}

interface Item {
  readonly flags: string;
  readonly text: string;
}

async function commandsFrom(path: readonly string[]): Promise<Command[]> {
  const help = await helpOf(path);
  const nested = await Promise.all(namesIn(help).map((name) => commandsFrom([...path, name])));
  return [{ name: path.join(' '), help }, ...nested.flat()];
}

async function helpOf(command: readonly string[]): Promise<string> {
  const surroundings = new FakeSurroundings();
  const code = await main([...command, '--help'], surroundings);
  if (code !== 0) throw new Error(`${command.join(' ')} --help ended with ${code}: ${surroundings.notes}`);
  return surroundings.out.trimEnd();
}

function section({ name, help }: Command, shared: ReadonlyMap<string, string>): string {
  const [usage = '', description = ''] = help.split('\n\n').map((text) => text.replaceAll(/\s+/g, ' '));
  const parameters = usage.slice(`Usage: dragoman ${name}`.length).replace(/ ?\[options\]| \[command\]/g, '');
  const depth = name.split(' ').length;
  const options = itemsIn(help, 'Options').filter(({ flags }) => !EVERYWHERE.test(flags));
  const own = options.filter(({ flags, text }) => shared.get(flags) !== text);
  const others = options.filter((option) => !own.includes(option)).map(({ flags }) => flags.split(' ')[0] ?? '');
  return [
    `${'#'.repeat(depth + 1)} \`${name}${depth > 1 ? parameters : ''}\`\n`,
    `${description.charAt(0).toUpperCase()}${description.slice(1)}.${alsoOf(others)}\n`,
    ...(parameters === '' || depth > 1 ? [] : [`Usage: \`${name}${parameters}\`\n`]),
    ...[tableOf([...itemsIn(help, 'Arguments'), ...own])].filter((table) => table !== ''),
  ].join('\n');
}

function alsoOf(options: readonly string[]): string {
  if (options.length === 0) return '';
  const set = Object.entries(SETS).find(([, flags]) => flags.join(' ') === options.join(' '));
  return ` Also: ${set === undefined ? options.map((flag) => `\`${flag}\``).join(', ') : set[0]}.`;
}

/** Options that many commands have with the same text; of several texts the commonest. */
function sharedOptions(commands: readonly Command[]): ReadonlyMap<string, string> {
  const counts = new Map<string, { readonly option: Item; readonly times: number }>();
  for (const option of commands.flatMap(({ help }) => itemsIn(help, 'Options'))) {
    if (EVERYWHERE.test(option.flags)) continue;
    const key = JSON.stringify(option);
    counts.set(key, { option, times: (counts.get(key)?.times ?? 0) + 1 });
  }
  const often = [...counts.values()].filter(({ times }) => times >= MANY).sort((one, other) => one.times - other.times);
  return new Map(often.map(({ option }) => [option.flags, option.text]));
}

/** The commands below a command. */
function namesIn(help: string): string[] {
  return itemsIn(help, 'Commands').map(({ flags }) => flags.split(' ')[0] ?? '');
}

/** The lines of one list of a help text, each with its continuation lines. */
function itemsIn(help: string, title: string): Item[] {
  const list = new RegExp(`^${title}:\\n((?: .*\\n)*)`, 'm').exec(`${help}\n`)?.[1] ?? '';
  const lines = list.replaceAll(/\n {3,}/g, ' ').split('\n');
  return lines.flatMap((line) => {
    const [, flags, text] = /^ {2}(\S.*?) {2,}(.*)$/.exec(line) ?? [];
    return flags === undefined || text === undefined ? [] : [{ flags, text }];
  });
}

function tableOf(items: readonly Item[]): string {
  if (items.length === 0) return '';
  const rows = items.map(({ flags, text }) => `| \`${flags}\` | ${text.replaceAll('|', '\\|')} |`);
  return ['| | |', '|---|---|', ...rows, ''].join('\n');
}

/** Options of every command. */
const EVERYWHERE = /^(?:--json|-h, --help)$/;
const MANY = 3;

/** Sets of shared options that have a name on the page. */
const SETS = {
  'client options': ['--url', '--key', '--data'],
  'admin options': ['--url', '--admin-key', '--admin-key-file', '--data'],
};

const HEADING = `# Command line

\`npx dragoman\` from a clone. Every command has \`--help\`, with examples, and takes \`--json\`; it exits with 0 (done), 1 (failed) or 2 (wrong usage). Output has no
colours when piped. \`-\` as a file name reads stdin.

| variable | |
|---|---|
| \`DRAGOMAN_HOST\`, \`DRAGOMAN_PORT\`, \`DRAGOMAN_DATA\`, \`DRAGOMAN_STORE\` | override the configuration; command-line options override these variables |
| \`DRAGOMAN_ADMIN_KEY\` | the admin key, at least 24 characters; a new value replaces the previous key. Without it, the first start creates a key and shows it once |
| \`DRAGOMAN_VAULT_KEY\` | the vault key. Default: a file in the data folder, mode 600 |
| \`DRAGOMAN_VAULT_KEY_NEXT\` | the next vault key, for \`vault rotate\`: servers that have both keys switch without a restart |
| \`DRAGOMAN_KEY\` | an agent's key, for commands that talk to a server |

Options of many commands. *Client options* are \`--url\`, \`--key\` and \`--data\`; *admin options* are \`--url\`, \`--admin-key\`,
\`--admin-key-file\` and \`--data\`:
`;
