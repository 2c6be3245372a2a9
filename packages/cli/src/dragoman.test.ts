import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DragomanProcess, dragoman } from '../test-support/dragoman-process.ts';
import { FakeSurroundings } from '../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../test-support/temporary-folder.ts';
import { main } from './main.ts';

// The command as a person runs it: processes of their own, real sockets, real signals.

describe('serve', () => {
  test('prints its address on the first line, and stops cleanly on a signal', async () => {
    const folder = temporaryFolder();
    await using server = new DragomanProcess(['serve', '--port', '0', '--json'], { folder });
    await server.until(/admin-key.*\n/);
    const [listening = '', adminKey = ''] = server.stdout.split('\n');
    const { event, url, ...others } = JSON.parse(listening);
    expect({ event, others }).toEqual({ event: 'listening', others: {} });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(JSON.parse(adminKey)).toEqual({ event: 'admin-key', key: expect.stringMatching(/^dgm_/) });
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: 'healthy' });
    expect(statSync(join(folder, '.dragoman')).mode & 0o777).toBe(0o700);

    const { code, stderr } = await dragoman(['serve', '--port', '0'], { folder });
    expect(code).toBe(1);
    expect(stderr).toContain(`in use by a running server: ${url}, process ${server.pid}, since `);
    expect(stderr).toContain('npx dragoman serve --data OTHER_FOLDER --port 0');

    server.signal('SIGTERM');
    expect(await server.ended()).toBe(0);
  });

  test('takes its agents from the configuration, and the admin key from the environment', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'say.mjs'), 'export default async function* () { yield "done"; }\n');
    writeFileSync(
      join(folder, 'dragoman.yaml'),
      'port: 0\nstore: memory\ndefault_agent: say\nagents:\n  say: { driver: module, module: ./say.mjs }\n',
    );
    const environment = { DRAGOMAN_ADMIN_KEY: 'dgm_brought_along_by_the_operator' };
    await using server = new DragomanProcess(['serve'], { folder, environment });
    const [, url = ''] = await server.until(/listens at (\S+)/);
    await server.until(/Ctrl-C/);
    expect(server.stdout).toContain('agents   say');
    expect(server.stdout).not.toContain('admin key');
    const key = await dragoman(['agents', 'add', 'desk', '--may-call', 'say', '--url', url], { folder, environment });
    expect(key).toMatchObject({ code: 0, stdout: expect.stringMatching(/^dgm_\S+\n$/) });
    const answer = await dragoman(['send', '--url', url, 'hi'], {
      folder,
      environment: { DRAGOMAN_KEY: key.stdout.trim() },
    });
    expect(answer).toMatchObject({ code: 0, stdout: 'done\n' });
    server.signal('SIGINT');
    expect(await server.ended()).toBe(0);
  });

  test('refuses a bad configuration with line, column and fix', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'dragoman.yaml'), 'host: 127.0.0.1\nagents:\n  echo: { driver: modul }\nprot: 1\n');
    const { code, stdout, stderr } = await dragoman(['serve'], { folder });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('dragoman.yaml has 2 problems');
    expect(stderr).toMatch(/line 3, column \d+: .*modul/);
    expect(stderr).toMatch(/line 4, column 1: .*prot.*\n {4}→ .*port/);
    expect(stderr).toContain('\n  → check it without starting a server: npx dragoman doctor\n');
  });

  test('dev reads its configuration and the modules of agents again at SIGHUP, and keeps its demo', async () => {
    const folder = temporaryFolder();
    const say = (text: string) =>
      writeFileSync(join(folder, 'say.mjs'), `export default async function* () { yield '${text}'; }\n`);
    say('one');
    writeFileSync(join(folder, 'dragoman.yaml'), 'agents:\n  say: { driver: module, module: ./say.mjs }\n');
    await using server = new DragomanProcess(['dev', '--port', '0', '--no-look'], { folder });
    await server.until(/Ctrl-C/);
    const send = async (agent: string) => (await dragoman(['send', '--agent', agent, 'hi'], { folder })).stdout;
    expect(await send('say')).toBe('one\n');
    say('two');
    server.signal('SIGHUP');
    await server.until(/Read dragoman.yaml again: /);
    expect(await send('say')).toBe('two\n');
    expect(await send('echo')).toContain('hi');
  });

  test('a second signal ends it at once', async () => {
    const folder = temporaryFolder();
    addPatientAgent(folder);
    await using server = new DragomanProcess(['dev', '--port', '0', '--no-look'], { folder });
    await server.until(/Ctrl-C/);
    await using sender = new DragomanProcess(['send', '--agent', 'patient', 'go'], { folder });
    await sender.until(/started/);
    server.signal('SIGTERM');
    await server.until(/Press Ctrl-C again/);
    server.signal('SIGTERM');
    expect(await server.ended()).toBe(1);
  });
});

/** An agent that starts to answer and then waits until it is aborted. */
function addPatientAgent(folder: string): void {
  const code = `export default async function* (envelope, { signal }) {
    yield 'started';
    await new Promise((_, refuse) => signal.addEventListener('abort', () => refuse(signal.reason)));
  }`;
  writeFileSync(join(folder, 'patient.mjs'), code);
  const agents = [
    '  patient: { driver: module, module: ./patient.mjs }',
    // No server listens there.
    '  away: { driver: http, url: "http://127.0.0.1:9/e2a" }',
  ];
  writeFileSync(join(folder, 'dragoman.yaml'), `agents:\n${agents.join('\n')}\n`);
}

describe('with dragoman dev running', () => {
  let folder: string;
  let dev: DragomanProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-dev-'));
    addPatientAgent(folder);
    dev = new DragomanProcess(['dev', '--port', '0'], { folder });
    await dev.until(/Ctrl-C/);
  });

  afterAll(async () => {
    await dev[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** In this process, which starts faster; what differs between processes is tested with processes. */
  const run = async (...args: string[]) => {
    const surroundings = new FakeSurroundings({ folder });
    const code = await main(args, surroundings);
    return { code, stdout: surroundings.out, stderr: surroundings.notes };
  };
  const keys = () => JSON.parse(readFileSync(join(folder, '.dragoman/dev/dev-keys.json'), 'utf8'));

  test('it prints commands to paste, and keeps its keys to itself', async () => {
    expect(dev.stdout).toMatch(/^Dragoman \S+ is ready at http:\/\/127\.0\.0\.1:\d+ \(\d+ ms\)\n/);
    expect(dev.stdout).toContain('  config   dragoman.yaml\n');
    expect(dev.stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
    expect(dev.stdout).toContain('agents   echo, clock, failing, guide, helper, patient, away; default: echo');
    expect(statSync(join(folder, '.dragoman/dev/dev-keys.json')).mode & 0o777).toBe(0o600);
    const pasted = [
      ...dev.stdout.matchAll(/^ {2}(npx dragoman (?:tour|send|watch|explain)(?: .*|)|curl (?:.*\\\n)+ +-d '.*')$/gm),
    ];
    expect(pasted.map(([, command = '']) => command.split(' ').slice(0, 3).join(' '))).toEqual([
      'npx dragoman tour',
      'npx dragoman send',
      'npx dragoman watch',
      'npx dragoman explain',
      expect.stringMatching(/^curl -N http/),
    ]);
  });

  test('a first look was shown: each of five things happened, and before anything was to be pasted', () => {
    const [look = '', rest] = dev.stdout.split('A first look').slice(1).join('').split('Try, in another terminal');
    expect(rest).toBeDefined();
    expect([...look.matchAll(/^ {2}(.) (\w+) .*\(\d+ ms\)$/gm)].map(([, mark, name]) => `${mark} ${name}`)).toEqual([
      '✓ agent',
      '✓ workflow',
      '✓ tool',
      '✓ message',
      '✓ callback',
    ]);
    expect(look).toContain('echo streamed 5 chunks: "Hello " "from "');
    expect(look).toContain('Ada, Dora, Brook');
    expect(look).toContain('{"words":4,"characters":17}');
  });

  test('explain reports the outcome of a request, and that a mistyped one is not on record', async () => {
    await run('send', '--id', 'explained', 'two words');
    const { code, stdout } = await run('explain', 'explained');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^explained request of demo, \S+, finished\n/);
    expect(stdout).toMatch(/1\. Received: e2a, \d+ bytes\n {2}\{[\s\S]*"two words"/);
    expect(stdout).toMatch(/demo \(key \S+\) to ask agent echo: permissions\.agents has "\*"/);
    expect(stdout).toContain('added    /source_agent_id "demo"  (the proven caller)');
    expect(stdout).toContain('2 e2a.complete {"result":{"text":"two words","words":2}}');
    expect(JSON.parse((await run('explain', 'explained', '--json')).stdout)).toMatchObject({ request_id: 'explained' });
    expect(await run('explain', 'explaned')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no record of "explaned"'),
    });
  });

  test('send streams the answer, and prints the request id beside it', async () => {
    const { code, stdout, stderr } = await dragoman(['send', 'one', 'two  three'], { folder });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'one two  three\n' });
    expect(stderr).toMatch(/^request \S+, key from \.dragoman\/dev\/dev-keys\.json\n$/);
  });

  test('send reads from stdin, and with --json prints each frame as a line', async () => {
    const { code, stdout, stderr } = await dragoman(['send', '--json', '-'], { folder, stdin: 'a b\n' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const frames = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(frames.map(({ sequence, body }) => [sequence, body.delta ?? body.result])).toEqual([
      [0, 'a '],
      [1, 'b'],
      [2, { text: 'a b', words: 2 }],
    ]);
  });

  test('send sets priority and expiry, and the server applies them', async () => {
    const hints = ['--priority', 'low', '--expires', '60'];
    expect(await dragoman(['send', '--id', 'hurried', ...hints, 'now'], { folder })).toMatchObject({ code: 0 });
    const { stdout } = await dragoman(['explain', 'hurried', '--json'], { folder });
    expect(stdout).toContain('"priority":"low"');
    const [, until = ''] = /"expires_at":"([^"]+)"/.exec(stdout) ?? [];
    expect(Date.parse(until) - Date.now()).toBeGreaterThan(30_000);
    // Its expiry is another one by then, and it is still the same request.
    const again = await dragoman(['send', '--id', 'hurried', ...hints, 'now'], { folder });
    expect(again).toMatchObject({ code: 0, stdout: 'now\n' });
    expect(await dragoman(['send', '--expires', '0', 'x'], { folder })).toMatchObject({ code: 2 });
    expect(await dragoman(['send', '--priority', 'soon', 'x'], { folder })).toMatchObject({ code: 2 });
  });

  test.each(['--agent', '--session', '--id'])('send takes no empty %s', async (flag) => {
    const { code, stderr } = await dragoman(['send', flag, '', 'x'], { folder });
    expect(code).toBe(2);
    expect(stderr).toContain('It must not be empty; set a value or omit the option.');
  });

  test('the echo of the demo also reads the content blocks of an ACP client', async () => {
    const { url, key } = JSON.parse(readFileSync(join(folder, '.dragoman/dev/dev-keys.json'), 'utf8'));
    const prompt = [{ type: 'text', text: 'from an editor' }];
    const body = JSON.stringify({ method: 'session/prompt', params: { session_id: 's', prompt } });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/e2a/agents/echo`, { method: 'POST', headers, body });
    expect(await answer.json()).toMatchObject({ body: { result: { text: 'from an editor' } } });
  });

  test('watch gives exactly the rest, while it runs and afterwards', async () => {
    await using sender = new DragomanProcess(['send', '--agent', 'clock', '--id', 'ticking', 'go'], { folder });
    await sender.until(/tick 1/);
    const during = await dragoman(['watch', 'ticking', '--after', '1'], { folder });
    expect(await sender.ended()).toBe(0);
    const ticks = sender.stdout.split('\n').filter((line) => line !== '');
    expect(ticks).toHaveLength(5);
    expect(during).toMatchObject({ code: 0, stdout: `${ticks.slice(2).join('\n')}\n` });
    expect(await run('watch', 'ticking', '--after', '3')).toMatchObject({ code: 0, stdout: `${ticks[4]}\n` });
    expect(await run('watch', 'ticking', '--after', '5')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'there are no frames after 5\n',
    });
    expect(await run('watch', 'ticking', '--after', '50')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ended before frame 50'),
    });
  });

  test('Ctrl-C cancels the request and shows its end', async () => {
    await using sender = new DragomanProcess(['send', '--agent', 'patient', '--id', 'cancelled', 'go'], { folder });
    await sender.until(/started/);
    sender.signal('SIGINT');
    expect(await sender.ended()).toBe(1);
    expect(sender.stderr).toContain('E2A.CANCELLED');
    expect(sender.stdout).toBe('started\n');
    expect((await run('watch', 'cancelled')).stderr).toContain('E2A.CANCELLED');
  });

  test('the partial answer of a failing agent is shown, and the command fails', async () => {
    const { code, stdout, stderr } = await run('send', '--agent', 'failing', 'go');
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'So far, so good. \n' });
    expect(stderr).toContain('error: DEMO.HALF_WAY: ');
  });

  test('an agent made of a scripted model calls a tool of the demo', async () => {
    const { code, stdout } = await run('send', '--agent', 'helper', 'how many words is this');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'The tool word_count returned: {"words":5,"characters":22}\n',
    });
  });

  test('an unknown agent is answered with the nearest name, an unknown request with what to look at', async () => {
    const agent = await run('send', '--agent', 'ecoh', 'go');
    expect(agent).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('did you mean echo?') });
    const nobody = await run('send', '--agent', 'zzzzzzzz', 'go');
    expect(nobody.stderr).toContain('Unknown agent "zzzzzzzz".\n  → see them all: npx dragoman agents list');
    expect(await run('watch', 'never-sent')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('request "never-sent" not found'),
    });
  });

  test('an unreachable agent is reported, and the doctor names the fix', async () => {
    const { code, stderr } = await run('send', '--agent', 'away', 'go');
    expect(code).toBe(1);
    expect(stderr).toContain('error: E2A.AGENT_ERROR: The agent could not be reached: connection refused');
    expect(stderr).toContain('npx dragoman doctor');
    await run('agents', 'add', 'added', '--agent-url', 'http://127.0.0.1:9/e2a');
    const doctor = await run('doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(
      /^fail agent away +cannot connect to http:\/\/127\.0\.0\.1:9\/e2a\n +→ start it, or correct agents\.away\.url in .*dragoman\.yaml$/m,
    );
    expect(doctor.stdout).toMatch(
      /^fail agent added +cannot connect to .*\n +→ start it, or add it again: npx dragoman agents add added$/m,
    );
    await run('agents', 'remove', 'added');
  });

  test('agents and keys are administered with the admin key', async () => {
    const added = await run('agents', 'add', 'desk', '--may-call', 'echo', '--json');
    expect(JSON.parse(added.stdout)).toMatchObject({ agent_id: 'desk', permissions: { agents: ['echo'] } });
    expect((await run('agents', 'list')).stdout).toMatch(/^desk +no +echo$/m);
    const { stdout: secret } = await run('keys', 'create', '--agent', 'desk', '--description', 'for the test');
    const list = JSON.parse((await run('keys', 'list', '--json')).stdout);
    const mine = list.keys.find(({ description }: { description: string }) => description === 'for the test');
    expect(mine).toMatchObject({ agent_id: 'desk', role: 'agent', revoked_at: null });
    const as = ['--url', keys().url, '--key', secret.trim()];
    expect(await run('send', ...as, '--agent', 'echo', 'hi')).toMatchObject({ code: 0, stdout: 'hi\n' });
    expect((await run('send', ...as, '--agent', 'clock', 'hi')).code).toBe(1);
    expect(await run('keys', 'revoke', mine.key_id)).toMatchObject({ code: 0 });
    expect((await run('send', ...as, '--agent', 'echo', 'hi')).stderr).toContain('rejected the key from --key');
    expect((await run('keys', 'create', '--agent', 'deks')).stderr).toContain('did you mean desk?');
    expect((await run('keys', 'revoke', mine.key_id)).stderr).toContain('already revoked');
    expect((await run('agents', 'remove', 'deks')).stderr).toContain('did you mean desk?');
    expect(await run('agents', 'remove', 'desk')).toMatchObject({ code: 0, stdout: 'removed desk\n' });
  });

  test('doctor finds it healthy, its keys good, and a wrong key bad', async () => {
    const { stdout } = await run('doctor');
    expect(stdout).toContain('healthy');
    expect([...stdout.matchAll(/^fail (.*?) {2}/gm)].map(([, check]) => check)).toEqual(['agent away']);
    const wrong = await run('doctor', '--url', keys().url, '--key', 'dgm_wrong');
    expect(wrong).toMatchObject({ code: 1, stdout: expect.stringMatching(/^fail key .*unknown or revoked/m) });
  });

  test('its port is not taken a second time: the error names the holder and the fix', async () => {
    const { port } = new URL(keys().url);
    const { code, stderr } = await run('serve', '--port', port, '--data', 'other');
    expect(code).toBe(1);
    expect(stderr).toContain(`port ${port} on 127.0.0.1 is taken by a Dragoman server`);
    expect(stderr).toContain('npx dragoman serve --data other --port 0');
  });

  test('started again, it keeps its keys', async () => {
    const before = keys();
    dev.signal('SIGINT');
    expect(await dev.ended()).toBe(0);
    dev = new DragomanProcess(['dev', '--port', '0', '--no-look'], { folder });
    await dev.until(/Ctrl-C/);
    expect(dev.stdout).not.toContain('A first look');
    expect(keys()).toEqual({ ...before, url: expect.any(String), callback_port: expect.any(Number) });
    expect(await run('send', 'again')).toMatchObject({ code: 0, stdout: 'again\n' });
  });
});

describe('the checked-in command', () => {
  const bin = fileURLToPath(new URL('../bin/dragoman.js', import.meta.url));

  test('prints how to build a missing build', () => {
    const folder = temporaryFolder();
    cpSync(dirname(bin), join(folder, 'bin'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'bin/dragoman.js')], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('error: Dragoman is not built yet.\n  → npm run build');
  });

  test.each(['18.20.0', '20.18.3', '0.12.18'])('refuses a Node that is too old: %s', (version) => {
    const old = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
    const args = ['--import', `data:text/javascript,${encodeURIComponent(old)}`, bin];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain(`error: Dragoman needs Node 20.19 or newer; this is ${version}.\n  → install a newer one`);
  });

  test('is written so that the oldest Node reads it as far as the check, and asks only then for more', () => {
    const code = readFileSync(bin, 'utf8').replaceAll(/^(?:#!|\/\/).*$/gm, '');
    expect(transformSync(code, { target: 'es5' }).code).toBe(transformSync(code, { target: 'esnext' }).code);
    // Syntax that an old Node cannot parse and esbuild would convert.
    expect(code).not.toMatch(/=>|`|\bimport\b|,\s*\)|\?\.|\?\?/);
  });
});
