import { describe, expect, test } from 'vitest';
import { FakeSurroundings } from '../test-support/fake-surroundings.ts';
import { main } from './main.ts';

const COMMANDS = [
  'serve',
  'dev',
  'tour',
  'send',
  'questions',
  'watch',
  'explain',
  'acp',
  'wire',
  'mcp',
  'tools',
  'workflow',
  'agents',
  'keys',
  'client',
  'vault',
  'apis',
  'knowledge',
  'check',
  'convert',
  'listen',
  'doctor',
  'migrate',
];
const NESTED = [
  'tools list',
  'tools call',
  'tools accept',
  'workflow validate',
  'workflow plan',
  'workflow run',
  'workflow stored',
  'workflow stored list',
  'workflow stored put',
  'workflow stored remove',
  'agents list',
  'agents add',
  'agents remove',
  'agents forget',
  'agents keygen',
  'agents register',
  'agents discover',
  'agents call',
  'keys create',
  'keys list',
  'keys revoke',
  'client connect',
  'vault set',
  'vault list',
  'vault remove',
  'vault rotate',
  'apis list',
  'apis add',
  'apis remove',
];

test('the help lists the commands there are, and no other', async () => {
  const surroundings = new FakeSurroundings();
  expect(await main(['--help'], surroundings)).toBe(0);
  const listed = [...surroundings.out.matchAll(/^ {2}(\w+) \[options\]/gm)].map(([, name]) => name);
  expect(listed).toEqual(COMMANDS);
  expect(surroundings.notes).toBe('');
});

describe.each([...COMMANDS, ...NESTED])('%s', (command) => {
  test('has --json and shows an example of itself', async () => {
    const surroundings = new FakeSurroundings();
    expect(await main([...command.split(' '), '--help'], surroundings)).toBe(0);
    expect(surroundings.out).toContain('--json');
    expect(surroundings.out).toMatch(new RegExp(`^Examples?:\\n(?: {2}.*\\n)* {2}.*npx dragoman ${command}`, 'm'));
  });
});

test('every numeric option reports the expected range for an invalid value', async () => {
  const seen: string[] = [];
  for (const command of [...COMMANDS, ...NESTED]) {
    const help = new FakeSurroundings();
    await main([...command.split(' '), '--help'], help);
    for (const [, option = ''] of help.out.matchAll(/^ +(--[\w-]+) <(?:number|ms|seconds|port|sequence)>/gm)) {
      for (const text of ['abc', '1.5']) {
        const surroundings = new FakeSurroundings();
        expect(await main([...command.split(' '), option, text], surroundings), `${command} ${option}`).toBe(2);
        expect(surroundings.notes).toMatch(new RegExp(`option '${option} .*' argument '${text}' .*whole number`));
      }
      seen.push(`${command} ${option}`);
    }
  }
  expect(seen).toEqual(expect.arrayContaining(['serve --port', 'watch --after', 'agents discover --limit']));
});

test.each([
  ['help', 'Usage: dragoman [options] [command]'],
  ['help serve', 'Usage: dragoman serve [options]'],
  ['help agents', 'Usage: dragoman agents [options] [command]'],
  ['help agents add', 'Usage: dragoman agents add [options] [agent_id]'],
])('%s shows the help', async (args, usage) => {
  const surroundings = new FakeSurroundings();
  expect(await main(args.split(' '), surroundings)).toBe(0);
  expect(surroundings.out).toContain(usage);
});

test.each([
  ['sevre', 'Did you mean serve?'],
  ['agents lits', 'Did you mean list?'],
])('the help of an unknown command is refused: %s', async (command, note) => {
  const surroundings = new FakeSurroundings();
  expect(await main(['help', ...command.split(' ')], surroundings)).toBe(2);
  expect(surroundings.notes).toContain(note);
});

test('the help shows the values of an option, its default, and whether it is required', async () => {
  const helpOf = async (command: string) => {
    const surroundings = new FakeSurroundings();
    await main([...command.split(' '), '--help'], surroundings);
    return surroundings.out.replaceAll(/\s+/g, ' ');
  };
  expect(await helpOf('workflow run')).toContain(
    '--level <level> how strict the checks are: strict, moderate, lenient (default: moderate)',
  );
  expect(await helpOf('agents keygen')).toContain('the kind of key: ed25519, p256, rsa (default: ed25519)');
  expect(await helpOf('agents call')).toContain('--as <agent_id> the calling agent: the one the key is for; required');
  expect(await helpOf('vault set')).toMatch(/--host <host> .*; may be repeated/);
});

test('without a command it shows the help on stderr, and was not understood', async () => {
  const surroundings = new FakeSurroundings();
  expect(await main([], surroundings)).toBe(2);
  expect(surroundings.out).toBe('');
  expect(surroundings.notes).toContain('Usage: dragoman');
});

test.each([
  [['sevre'], "unknown command 'sevre'", 'Did you mean serve?'],
  [['agents', 'lits'], "unknown command 'lits'", 'Did you mean list?'],
  [['serve', '--prot', '1'], "unknown option '--prot'", 'Did you mean --port?'],
  [['serve', '--port', '70000'], '70000', 'Give a whole number from 0 to 65535.'],
  [['watch', 'r', '--after', '-2'], '-2', 'Give -1 or a larger whole number.'],
  [['send'], "missing required argument 'text'", 'see: npx dragoman send --help'],
  [['agents', 'remove'], "missing required argument 'agent_id'", 'see: npx dragoman agents remove --help'],
  [['check', 'a', 'b'], 'too many arguments', 'see: npx dragoman check --help'],
  [['convert', 'a'], "required option '--to <dialect>'", 'see: npx dragoman convert --help'],
  [['keys', 'create'], '--agent ID', 'npx dragoman keys create --agent AGENT_ID'],
  [['agents', 'add'], 'an agent needs a name', 'npx dragoman agents add AGENT_ID'],
  [['check', '--dialect', 'e2b', '-'], '--dialect must be one of e2a,', 'did you mean e2a?'],
])('%j is not understood, and the nearest right thing is named', async (args, what, help) => {
  const surroundings = new FakeSurroundings();
  expect(await main(args, surroundings)).toBe(2);
  expect(surroundings.out).toBe('');
  expect(surroundings.notes).toContain(what);
  expect(surroundings.notes).toContain(help);
});

test('the version is that of the package', async () => {
  const surroundings = new FakeSurroundings();
  expect(await main(['--version'], surroundings)).toBe(0);
  expect(surroundings.out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('errors are red on a terminal and plain elsewhere', async () => {
  const screen = new FakeSurroundings({ isTTY: true });
  const pipe = new FakeSurroundings();
  expect(await main(['check', 'nothing.json'], screen)).toBe(1);
  expect(await main(['check', 'nothing.json'], pipe)).toBe(1);
  expect(screen.notes).toContain('\u001b[31merror:\u001b[39m nothing.json: file not found');
  expect(pipe.notes).toBe('error: nothing.json: file not found\n  → check the path, or give - to read from stdin\n');
});

test('with --json, before or after the command, trouble is JSON too', async () => {
  for (const args of [
    ['--json', 'check', 'nothing.json'],
    ['check', 'nothing.json', '--json'],
  ]) {
    const surroundings = new FakeSurroundings();
    expect(await main(args, surroundings)).toBe(1);
    expect(JSON.parse(surroundings.notes)).toMatchObject({ event: 'failed', error: { code: 'unreadable' } });
  }
});
