import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@dragoman/client';
import { type Server, startServer, systemClock, systemIds } from '@dragoman/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { main } from '../main.ts';

const ADMIN_KEY = 'adm_0123456789abcdef0123456789abcdef';
const SILENT = new SilentLog();
const folder = mkdtempSync(join(tmpdir(), 'dragoman-cli-'));
let server: Server;
let key = '';

beforeAll(async () => {
  const module = join(folder, 'echo.mjs');
  writeFileSync(module, 'export default async function* (envelope) { return { said: envelope.params }; }');
  const broken = join(folder, 'broken.mjs');
  writeFileSync(broken, 'export default async function* () { throw new Error("no"); }');
  server = await startServer({
    config: {
      port: 0,
      store: 'memory',
      agents: {
        echo: { driver: 'module', module, name: 'Echo', skills: ['echo_text'] },
        broken: { driver: 'module', module: broken, name: 'Broken' },
      },
    },
    folder,
    adminKey: ADMIN_KEY,
    clock: systemClock,
    ids: systemIds,
    log: SILENT,
  });
  key = await caller('desk-agent');
});
afterAll(async () => {
  await server.stop({ drainMs: 0 });
  rmSync(folder, { recursive: true, force: true });
});

describe('agents keygen', () => {
  test.each(['ed25519', 'p256', 'rsa'])('makes a key of kind %s that signs a call', async (kind) => {
    const made = await run(['agents', 'keygen', '--out', `${kind}.pem`, '--kind', kind]);
    expect([made.code, made.out]).toEqual([0, expect.stringContaining('BEGIN PUBLIC KEY')]);
    expect(statSync(join(folder, `${kind}.pem`)).mode & 0o777).toBe(0o600);
    await caller(`signs-${kind}`, made.out);
    const called = await run([
      ...['agents', 'call', 'echo', 'say', '--as', `signs-${kind}`],
      ...['--sign', `${kind}.pem`, '--params', '{"content":"signed"}', '--json', '--url', server.url],
    ]);
    expect([called.code, called.notes, JSON.parse(called.out || '{}')]).toEqual([
      0,
      '',
      { said: expect.objectContaining({ content: 'signed' }) },
    ]);
  });

  test('prints both paths as JSON, and never overwrites a file', async () => {
    const made = await run(['agents', 'keygen', '--out', 'new.pem', '--json']);
    expect(JSON.parse(made.out)).toEqual({
      private_key: 'new.pem',
      public_key: expect.stringContaining('BEGIN PUBLIC KEY'),
    });
    const before = readFileSync(join(folder, 'new.pem'), 'utf8');
    const again = await run(['agents', 'keygen', '--out', 'new.pem']);
    expect([again.code, again.notes]).toEqual([1, 'error: new.pem already exists\n  → name another file with --out\n']);
    expect(readFileSync(join(folder, 'new.pem'), 'utf8')).toBe(before);
    expect(made.out + made.notes).not.toContain('PRIVATE KEY');
  });

  test('knows which kinds there are', async () => {
    const { code, notes } = await run(['agents', 'keygen', '--out', 'other.pem', '--kind', 'dsa']);
    expect([code, notes]).toEqual([2, expect.stringContaining('ed25519, p256, rsa')]);
  });
});

describe('agents register and discover', () => {
  test('an agent is registered from a file, announced again, and found by its capabilities', async () => {
    writeFileSync(join(folder, 'card.json'), JSON.stringify(card('weather-agent', ['weather_read'])));
    const register = ['agents', 'register', '--card', 'card.json', '--endpoint', 'https://weather.example.com/a2a'];
    const [first, again] = [await keyed(register), await keyed(register)];
    expect([first.out, again.out]).toEqual(['registered weather-agent\n', 'updated weather-agent\n']);
    const found = await keyed(['agents', 'discover', '--capability', 'weather_read', '--json']);
    expect(JSON.parse(found.out).agents).toMatchObject([
      { agent_card: { agent_id: 'weather-agent' }, source: 'self_declared' },
    ]);
    const all = await keyed(['agents', 'discover', '--name', 'e', '--limit', '5']);
    expect(all.out).toMatch(/echo +Echo +echo_text +this server\n/);
    expect(all.out).toContain('https://weather.example.com/a2a');
    expect((await keyed(['agents', 'discover', '--capability', 'fly'])).out).not.toContain('agent');
  });

  test('the description of an agent cannot drive the terminal', async () => {
    const named = { ...card('sly-agent', ['sly_\u001b[2J']), name: 'Sly\u001b]0;owned\u0007' };
    const put = ['agents', 'register', '--card', '-', '--endpoint', 'https://sly.example.com/a2a'];
    expect((await keyed(put, JSON.stringify(named))).code).toBe(0);
    const { out } = await keyed(['agents', 'discover', '--name', 'sly']);
    expect(out).toContain('sly-agent');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  test('problems of a card are reported', async () => {
    const put = ['agents', 'register', '--card', '-', '--endpoint', 'https://x.example.com/a2a'];
    const bad = await keyed(put, JSON.stringify(card('x', [])));
    expect([bad.code, bad.notes]).toEqual([1, expect.stringContaining('capabilities must have at least 1 item')]);
    expect((await keyed(put, '[1]')).code).toBe(2);
  });
});

describe('agents call', () => {
  test('asks with a key, with parameters from stdin', async () => {
    const { code, out } = await keyed(
      ['agents', 'call', 'echo', 'say', '--as', 'desk-agent', '--params', '-'],
      '{"content":"hello"}',
    );
    expect([code, JSON.parse(out)]).toMatchObject([0, { said: { content: 'hello' } }]);
  });

  test.each([
    [['ecko', 'say', '--as', 'desk-agent'], 1, 'Unknown agent "ecko".\n  → did you mean echo?\n'],
    [
      ['nobody-here', 'say', '--as', 'desk-agent'],
      1,
      '  → list the agents you can call: npx dragoman agents discover\n',
    ],
    [['echo', 'say', '--as', 'other-agent'], 1, '  → this key belongs to "desk-agent": set sender_id to it\n'],
    [['echo', 'say', '--as', 'other-agent'], 1, '  → call as desk-agent: --as desk-agent\n'],
    [['echo', 'say', '--as', 'desk-agent', '--params', '[]'], 2, '--params must be a JSON object'],
    [['echo', 'say', '--as', 'desk-agent', '--sign', 'card.json'], 1, 'is not a PEM private key'],
    [['echo', 'say', '--as', 'desk-agent', '--sign', 'none.pem'], 1, 'file not found'],
    [['echo', 'say'], 2, "required option '--as <agent_id>'"],
  ])('%j is refused with the problem', async (args, code, note) => {
    const called = await keyed(['agents', 'call', ...args]);
    expect([called.code, called.notes]).toEqual([code, expect.stringContaining(note)]);
  });

  test('a caller without permission learns what the administrator must do', async () => {
    const key = await caller('clerk-agent', undefined, []);
    const { code, notes } = await run([
      ...['agents', 'call', 'echo', 'say', '--as', 'clerk-agent', '--key', key, '--url', server.url],
    ]);
    expect(code).toBe(1);
    expect(notes).toContain('add "echo" to permissions.agents');
    expect(notes).toContain('npx dragoman agents add clerk-agent --may-call echo');
  });

  test('an unknown signature is refused with how to register its key', async () => {
    await run(['agents', 'keygen', '--out', 'unknown.pem']);
    const { code, notes } = await run([
      ...['agents', 'call', 'echo', 'say', '--as', 'desk-agent', '--sign', 'unknown.pem', '--url', server.url],
    ]);
    expect(code).toBe(1);
    expect(notes).toContain('Authentication required.');
    expect(notes).toContain('npx dragoman agents add desk-agent --may-call echo --public-key FILE');
  });

  test('a failed agent is reported with where to look', async () => {
    const { code, notes } = await keyed(['agents', 'call', 'broken', 'say', '--as', 'desk-agent']);
    expect([code, notes]).toEqual([
      1,
      expect.stringMatching(/→ check its state: npx dragoman explain [0-9a-f-]{36}\n$/),
    ]);
  });
});

describe('the admin key', () => {
  const listing = (args: readonly string[], stdin = '') => run(['agents', 'list', '--url', server.url, ...args], stdin);

  test('may be in a file or on stdin, hidden from other users', async () => {
    writeFileSync(join(folder, 'admin.key'), `${ADMIN_KEY}\n`);
    for (const given of [
      await listing(['--admin-key-file', 'admin.key']),
      await listing(['--admin-key', '-'], `${ADMIN_KEY}\n`),
      await listing(['--admin-key-file', '-'], ADMIN_KEY),
    ]) {
      expect([given.code, given.notes]).toEqual([0, '']);
      expect(given.out).toContain('echo');
    }
  });

  test('on the command line is warned of, as JSON with --json', async () => {
    const { code, notes } = await listing(['--admin-key', ADMIN_KEY]);
    expect([code, notes]).toEqual([0, expect.stringMatching(/^warning: other users of this machine can see a key/)]);
    const json = await listing(['--admin-key', ADMIN_KEY, '--json']);
    expect(JSON.parse(json.notes)).toMatchObject({ event: 'warning' });
    expect(notes + json.notes).not.toContain(ADMIN_KEY);
  });

  test.each([
    [['--admin-key-file', 'nowhere.key'], 1, 'nowhere.key: file not found'],
    [['--admin-key', '-'], 1, 'no key in stdin'],
    [['--admin-key', 'x', '--admin-key-file', 'y'], 2, 'give --admin-key or --admin-key-file, not both'],
  ])('%j is refused with the problem', async (args, code, note) => {
    const failed = await listing(args);
    expect([failed.code, failed.notes]).toEqual([code, expect.stringContaining(note)]);
  });
});

test('agents list marks agents that registered themselves, and shows hidden characters of a description', async () => {
  const [own, foreign] = ['moth-agent', 'owl-agent'];
  const mothKey = await caller(own);
  for (const agentId of [own, foreign]) {
    const put = ['agents', 'register', '--card', '-', '--endpoint', 'https://x.example.com/a2a'];
    await run([...put, '--url', server.url, '--key', mothKey], JSON.stringify(card(agentId, ['fly_by_night'])));
  }
  await createClient({ url: server.url, key: ADMIN_KEY }).admin.agents.put({
    agent_id: 'sly-caller',
    description: 'adm\u202enimda\u200b',
    permissions: {},
  });
  const surroundings = new FakeSurroundings({ folder, environment: { DRAGOMAN_ADMIN_KEY: ADMIN_KEY } });
  expect(await main(['agents', 'list', '--url', server.url], surroundings)).toBe(0);
  expect(surroundings.out).toMatch(/^moth-agent +registered itself /m);
  expect(surroundings.out).toMatch(/^owl-agent +registered by moth-agent /m);
  expect(surroundings.out).toMatch(/^echo +from the config /m);
  expect(surroundings.out).toContain('adm\\u{202e}nimda\\u{200b}');
  const json = new FakeSurroundings({ folder, environment: { DRAGOMAN_ADMIN_KEY: ADMIN_KEY } });
  await main(['agents', 'list', '--json', '--url', server.url], json);
  expect(json.out).toContain('adm\\u202enimda\\u200b');
  expect(JSON.parse(json.out)).toMatchObject({
    agents: expect.arrayContaining([expect.objectContaining({ description: 'adm\u202enimda\u200b' })]),
    registered: expect.arrayContaining([
      { agent_id: own, name: own, registered_by: own },
      { agent_id: foreign, name: foreign, registered_by: own },
    ]),
  });
});

describe('agents add of a new agent', () => {
  test('prints only its key on stdout, and shows the secret of its callbacks, which is not shown again', async () => {
    const { code, out, notes } = await run([
      'agents',
      'add',
      'called-back',
      '--url',
      server.url,
      '--admin-key',
      ADMIN_KEY,
    ]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^dgm_\S+\n$/)]);
    expect(notes).toMatch(/^callback secret: whsec_[A-Za-z0-9+/]+=*\n/m);
  });

  test('takes the id it has in a registry, by which the mailbox knows it', async () => {
    const id = 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:12';
    const args = [
      'agents',
      'add',
      'registered',
      '--erc8004',
      id,
      '--json',
      '--url',
      server.url,
      '--admin-key',
      ADMIN_KEY,
    ];
    expect(JSON.parse((await run(args)).out)).toMatchObject({ agent_id: 'registered', agentId: id });
  });
});

describe('agents add', () => {
  const add = (...args: readonly string[]) =>
    run(['agents', 'add', 'limited', ...args, '--json', '--url', server.url, '--admin-key', ADMIN_KEY]);

  test('lists its permissions, its limits, and its time to answer', async () => {
    const mayUse = ['--may-run', 'ApiCall', '--may-run', 'FilterData', '--may-use-api', 'shop'];
    const { out } = await add(
      ...['--may-call', 'echo', ...mayUse, '--may-use-credential', 'shop-key', '--may-use-tool', '*'],
      ...['--may-run-workflow', 'report', '--may-run-workflow', 'digest'],
      ...['--limit', 'requests_per_minute=10', '--limit', 'api_calls_per_hour=3', '--timeout', '90'],
      ...['--command', 'true'],
    );
    expect(JSON.parse(out)).toMatchObject({
      permissions: {
        agents: ['echo'],
        operations: ['ApiCall', 'FilterData'],
        apis: ['shop'],
        credentials: ['shop-key'],
        tools: ['*'],
        workflows: ['report', 'digest'],
      },
      limits: { requests_per_minute: 10, api_calls_per_hour: 3 },
      timeout_ms: 90_000,
    });
  });

  test.each([
    ['requests_per_minute', 2, 'Give it as NAME=NUMBER, such as requests_per_minute=10.'],
    ['requests_per_minute=0', 2, 'Give 1 or a larger whole number.'],
    ['requests_per_week=9', 1, 'did you mean requests_per_hour?'],
  ])('a limit of %s is refused with the problem', async (limit, code, note) => {
    const { code: given, notes, out } = await add('--limit', limit);
    expect([given, notes + out]).toEqual([code, expect.stringContaining(note)]);
  });
});

describe('agents add of an agent that exists', () => {
  const add = (...args: readonly string[]) =>
    run(['agents', 'add', 'signing-agent', ...args, '--url', server.url, '--admin-key', ADMIN_KEY]);
  const publicKeyNow = async () =>
    (await createClient({ url: server.url, key: ADMIN_KEY }).admin.agents.get('signing-agent')).public_key;

  test('keeps its public key by default, and reports what was kept and changed', async () => {
    const { out: pem } = await run(['agents', 'keygen', '--out', 'signing.pem']);
    writeFileSync(join(folder, 'signing.pub'), pem);
    await add('--may-call', 'echo', '--name', 'Signer', '--public-key', 'signing.pub');
    const again = await add('--may-call', 'echo', '--may-call', 'broken', '--description', 'signs');
    expect([again.code, again.out]).toEqual([0, '']);
    expect(again.notes).toContain('replaced signing-agent; its API keys stay as they are\n');
    expect(again.notes).toContain('  changed  permissions.agents: echo, broken, was echo\n');
    expect(again.notes).toContain('  removed  name, which was Signer\n');
    expect(again.notes).toContain('  added    description: signs\n');
    expect(again.notes).toContain('  kept     public_key\n');
    expect(await publicKeyNow()).toContain('BEGIN PUBLIC KEY');
    const unchanged = await add('--may-call', 'echo', '--may-call', 'broken', '--description', 'signs');
    expect(unchanged.notes).toMatch(/^signing-agent is unchanged; its API keys stay as they are\n {2}→/m);
    const same = await add('--may-call', 'echo', '--may-call', 'broken', '--description', 'signs', '--no-public-key');
    expect(same.notes).toMatch(/^ {2}removed {2}public_key, which was …/m);
    expect(await publicKeyNow()).toBeUndefined();
  });

  test('warns of permissions that it loses, and of an agent that is not there', async () => {
    await add('--may-call', 'echo', '--may-use-tool', '*');
    const { notes } = await add('--may-call', 'ekho');
    expect(notes).toContain("warning: it lost permissions; to keep them, repeat --may-use-tool '*'\n");
    expect(notes).toContain('warning: there is no agent "ekho" yet; did you mean echo?\n');
  });

  test('an agent that is no longer configured to answer does not', async () => {
    await add('--module', 'echo.mjs');
    expect((await keyed(['agents', 'call', 'signing-agent', 'say', '--as', 'desk-agent'])).code).toBe(0);
    expect((await add()).notes).toContain('  removed  driver, which was module\n');
    expect((await keyed(['agents', 'call', 'signing-agent', 'say', '--as', 'desk-agent'])).code).toBe(1);
  });
});

function card(agent_id: string, capabilities: readonly string[]) {
  const text = { agent_id, name: agent_id, version: '1.0.0', description: '' };
  return { ...text, capabilities, supported_protocols: ['A2A/1.0'] };
}

/** A new caller's key. */
async function caller(agentId: string, publicKey?: string, mayCall = ['*']): Promise<string> {
  const { admin } = createClient({ url: server.url, key: ADMIN_KEY });
  const made = await admin.agents.put({
    agent_id: agentId,
    permissions: { agents: mayCall },
    ...(publicKey !== undefined && { public_key: publicKey }),
  });
  return made.api_key ?? '';
}

function keyed(args: readonly string[], stdin = '') {
  return run([...args, '--url', server.url, '--key', key], stdin);
}

async function run(args: readonly string[], stdin = '') {
  const surroundings = new FakeSurroundings({ stdin, folder });
  const code = await main(args, surroundings);
  return { code, out: surroundings.out, notes: surroundings.notes };
}
