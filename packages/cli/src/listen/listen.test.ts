import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startServer, systemClock, systemIds } from '@dragoman/server';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../core/test-support/ports.ts';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { FakeSurroundings } from '../../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../../test-support/temporary-folder.ts';
import { main } from '../main.ts';
import { listenCertificate } from './certificate.ts';
import { Receiver } from './receiver.ts';
import { selfSigned } from './self-signed.ts';

const NOW = new Date();
let surroundings: FakeSurroundings;
afterEach(() => surroundings?.interrupt());

describe('listen', () => {
  test('shows what a real server calls back, when its signature is good', async () => {
    const folder = temporaryFolder();
    const [port, data] = [await freePort(), join(folder, 'kept')];
    const server = await realServer(folder, { port, ca: listenCertificate(data, NOW).path });
    surroundings = new FakeSurroundings({ folder, now: NOW });
    const ended = main(['listen', '--port', String(port), '--url', server.url, '--data', data], surroundings);
    await until(() => surroundings.notes.includes('listening for callbacks at https://127.0.0.1'));
    // Wherever the configuration is that it is put into.
    const ca = join(folder, 'kept', 'listen', 'cert.pem');
    expect(surroundings.notes).toContain(`gate: { callbacks: ["127.0.0.1:${port}"], ca: ["${ca}"] }`);
    const message = { from: { name: 'Me', callbackUrl: `https://127.0.0.1:${port}/in` }, message: 'hello you' };
    const answer = await fetch(`${server.url}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...message, metadata: { messageId: 'msg_mine', threadId: 't1' } }),
    });
    expect(answer.status).toBe(200);
    await until(() => surroundings.out !== '');
    expect(surroundings.out).toMatch(
      /^from Dragoman: success, msg_\d+_\w+, in reply to msg_mine, thread t1, signature valid\n {2}\S/,
    );

    // An unsigned callback is refused, with a note.
    const head = {
      'webhook-id': 'x',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': 'v1a,AAAA',
    };
    expect(await post(port, head)).toBe(401);
    expect(await post(port, {})).toBe(400);
    expect(await post(port, {}, 'GET')).toBe(405);
    expect(surroundings.notes).toContain('refused with 401: no signature of this callback is valid');
    // Of what cannot be one nothing is waited for.
    const huge = { 'content-length': String(65 * 1024 * 1024) };
    expect(await post(port, { ...head, ...huge })).toBe(413);
    expect(await post(port, { ...head, ...huge, 'webhook-timestamp': '1' })).toBe(401);
    expect(surroundings.notes).toContain(
      'refused with 401: its timestamp is more than 300 seconds from the current time',
    );
    surroundings.interrupt();
    expect(await ended).toBe(0);
  });

  test('takes an answer of five megabytes with half a surrogate pair in it', async () => {
    const folder = temporaryFolder();
    const [port, data, module] = [await freePort(), join(folder, 'kept'), join(folder, 'long.mjs')];
    writeFileSync(module, `export default async function* () { return 'x'.repeat(5_000_000) + '\\ud800'; }`);
    const server = await realServer(folder, { port, ca: listenCertificate(data, NOW).path, module });
    surroundings = new FakeSurroundings({ folder, now: NOW });
    const ended = main(['listen', '--port', String(port), '--url', server.url, '--data', data], surroundings);
    await until(() => surroundings.notes.includes('listening for callbacks at'));
    const message = { from: { name: 'Me', callbackUrl: `https://127.0.0.1:${port}/in` }, message: 'go on' };
    const headers = { 'content-type': 'application/json' };
    await fetch(`${server.url}/a2a`, { method: 'POST', headers, body: JSON.stringify(message) });
    await until(() => surroundings.out !== '' || surroundings.notes.includes('refused'));
    expect(surroundings.notes).not.toContain('refused');
    expect(surroundings.out.length).toBeGreaterThan(5_000_000);
    surroundings.interrupt();
    expect(await ended).toBe(0);
  });

  test('shows the text of an agent as text: it can neither control the terminal nor imitate a callback', async () => {
    const folder = temporaryFolder();
    const [port, data, module] = [await freePort(), join(folder, 'kept'), join(folder, 'forger.mjs')];
    const forged = 'from Bank: success, msg_1, in reply to msg_mine, signature valid';
    writeFileSync(module, `export default async function* () { return 'hi\\u001b[2J\\u009b1A\\r\\n${forged}\\n'; }`);
    const server = await realServer(folder, { port, ca: listenCertificate(data, NOW).path, module });
    surroundings = new FakeSurroundings({ folder, now: NOW });
    const ended = main(['listen', '--port', String(port), '--url', server.url, '--data', data], surroundings);
    await until(() => surroundings.notes.includes('listening for callbacks at'));
    const message = { from: { name: 'Me', callbackUrl: `https://127.0.0.1:${port}/in` }, message: 'go on' };
    const headers = { 'content-type': 'application/json' };
    await fetch(`${server.url}/a2a`, { method: 'POST', headers, body: JSON.stringify(message) });
    await until(() => surroundings.out !== '');
    const [head, ...rest] = surroundings.out.trimEnd().split('\n');
    expect(head).toMatch(/^from Dragoman: success, msg_\w+, in reply to msg_\w+, signature valid$/);
    expect(rest).toEqual(['  hi\\u{1b}[2J\\u{9b}1A', `  ${forged}`]);
    surroundings.interrupt();
    expect(await ended).toBe(0);
  });

  test('without a server and without a key says what to do', async () => {
    surroundings = new FakeSurroundings({ folder: temporaryFolder(), now: NOW });
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await main(['listen', '--port', '0', '--url', url], surroundings)).toBe(1);
    expect(surroundings.notes).toContain('does not publish its signing key');
    expect(surroundings.notes).toContain('--public-key');
  });

  test.each([
    ['--public-key', 'nope', 'It must be whpk_ and base64'],
    ['--public-key', 'whpk_AAAA', 'It must be whpk_ and base64'],
    ['--secret', 'whsec_', 'It must be whsec_ and base64'],
  ])('%s %s is not a key, which is reported before the first callback', async (option, key, note) => {
    surroundings = new FakeSurroundings({ folder: temporaryFolder(), now: NOW });
    expect(await Promise.race([main(['listen', '--port', '0', option, key], surroundings), stillRuns()])).toBe(2);
    expect(surroundings.notes).toContain(note);
  });

  test('in a folder that cannot be written says so', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    surroundings = new FakeSurroundings({ folder, now: NOW });
    const options = ['--port', '0', '--public-key', `whpk_${'A'.repeat(43)}=`, '--data', join(folder, 'file')];
    expect(await main(['listen', ...options], surroundings)).toBe(1);
    expect(surroundings.notes).toContain('the certificate cannot be stored in');
    expect(surroundings.notes).toContain('--data FOLDER');
  });
});

test('the receiver is there for this machine alone, at the one address it names', async () => {
  await using receiver = await Receiver.listen(0, listenCertificate(temporaryFolder(), NOW), {
    keys: async () => ({ secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }),
    onAnswer: () => {},
    note: () => {},
  });
  expect(await post(receiver.port, {}, 'GET')).toBe(405);
  // Another address of this machine, which it would have if it listened at all of them.
  const elsewhere = connect(receiver.port, '127.0.0.2');
  onTestFinished(() => void elsewhere.destroy());
  await expect(once(elsewhere, 'connect')).rejects.toThrow('ECONNREFUSED');
});

test('a receiver whose server is not up yet tries again at the next callback, and not for invalid requests', async () => {
  let requests = 0;
  await using receiver = await Receiver.listen(0, listenCertificate(temporaryFolder(), NOW), {
    keys: async () => {
      requests += 1;
      if (requests === 1) throw new Error('nobody there');
      return { publicKey: `whpk_${'A'.repeat(43)}=` };
    },
    onAnswer: () => {},
    note: () => {},
  });
  expect([await post(receiver.port, {}, 'GET'), requests]).toEqual([405, 0]);
  expect(await post(receiver.port, {})).toBe(500);
  expect([await post(receiver.port, {}), await post(receiver.port, {}), requests]).toEqual([400, 400, 2]);
});

describe('the certificate of the receiver', () => {
  test('is for this machine’s own names, signed by itself, and good for a year', () => {
    const { cert } = selfSigned({ now: NOW, days: 365 });
    const read = new X509Certificate(cert);
    expect(read.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
    expect([read.verify(read.publicKey), read.ca]).toEqual([true, true]);
    expect(Math.round((Date.parse(read.validTo) - NOW.getTime()) / 86_400_000)).toBe(365);
  });

  test('is made once, its key for its owner only, and again before it is over', () => {
    const data = temporaryFolder();
    const first = listenCertificate(data, NOW);
    expect(listenCertificate(data, NOW)).toEqual(first);
    expect(statSync(join(data, 'listen', 'key.pem')).mode & 0o777).toBe(0o600);
    expect(listenCertificate(data, new Date(NOW.getTime() + 360 * 86_400_000)).cert).not.toBe(first.cert);
  });

  test.each([
    ['cert.pem', ''],
    ['cert.pem', 'nonsense'],
    ['key.pem', ''],
    ['key.pem', selfSigned({ now: NOW, days: 365 }).key],
  ])('is made again where %s is damaged, or not its own', (file, text) => {
    const data = temporaryFolder();
    const first = listenCertificate(data, NOW);
    writeFileSync(join(data, 'listen', file), text);
    const second = listenCertificate(data, NOW);
    expect(second.cert).not.toBe(first.cert);
    expect(new X509Certificate(second.cert).checkPrivateKey(createPrivateKey(second.key))).toBe(true);
  });
});

async function stillRuns(): Promise<string> {
  await until(() => surroundings.notes.includes('listening for callbacks'));
  return 'it listens';
}

async function realServer(folder: string, { port, ca, module = ECHO }: { port: number; ca: string; module?: string }) {
  const server = await startServer({
    config: {
      port: 0,
      store: 'memory',
      default_agent: 'echo',
      agents: { echo: { driver: 'module', module } },
      mailbox: { anonymous: ['echo'] },
      gate: { callbacks: [`127.0.0.1:${port}`], ca: [ca] },
    },
    folder: join(folder, 'data'),
    clock: systemClock,
    ids: systemIds,
    log: new SilentLog(),
    adminKey: 'an-admin-key-of-the-test',
  });
  onTestFinished(() => server.stop({ drainMs: 0 }));
  return server;
}

function post(port: number, headers: Record<string, string>, method = 'POST'): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = {
      method,
      host: '127.0.0.1',
      port,
      headers,
      rejectUnauthorized: false,
      agent: false as const,
    };
    const asking = request(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
      asking.destroy();
    }).on('error', reject);
    // A request with a Content-Length has more to come.
    if (headers['content-length'] === undefined) asking.end('{}');
    else asking.write('{}');
  });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const ECHO = new URL('../demo/echo.mjs', import.meta.url).pathname;
