import { spawn, spawnSync } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createClient } from '../../packages/client/src/index.ts';
import { freePort } from '../../packages/core/test-support/ports.ts';
import { SilentLog } from '../../packages/core/test-support/silent-log.ts';
import { type Server, startServer, systemClock, systemIds } from '../../packages/server/src/index.ts';
import { isBlock, readPage } from './page.ts';

// Runs the configurations of the page on reverse proxies with the proxies themselves, where they are installed.

const PAGE = 'docs/how-to/run-behind-a-reverse-proxy.md';
const ADMIN_KEY = 'adm_0123456789abcdef0123456789abcdef';
const HOST = 'agents.example.com';
const SILENT = new SilentLog();

const folder = mkdtempSync(join(tmpdir(), 'dragoman-proxy-'));
const blocks = readPage(PAGE).filter(isBlock);
let server: Server;
let key = '';

beforeAll(async () => {
  writeFileSync(
    join(folder, 'slow.mjs'),
    `import { setTimeout as pause } from 'node:timers/promises';
     export default async function* () { yield 'first'; await pause(1500); yield 'last'; return {}; }`,
  );
  server = await startServer({
    config: {
      port: 0,
      store: 'memory',
      allowed_hosts: [HOST],
      trusted_proxies: ['127.0.0.1'],
      agents: { slow: { driver: 'module', module: join(folder, 'slow.mjs') } },
      default_agent: 'slow',
      mailbox: { anonymous: ['slow'] },
    },
    folder,
    adminKey: ADMIN_KEY,
    clock: systemClock,
    ids: systemIds,
    log: SILENT,
  });
  const { admin } = createClient({ url: server.url, key: ADMIN_KEY });
  key = (await admin.agents.put({ agent_id: 'desk', permissions: { agents: ['*'] } })).api_key ?? '';
});
afterAll(async () => {
  await server.stop({ drainMs: 0 });
  rmSync(folder, { recursive: true, force: true });
});

/** How each is started with the page's block, on a port of this machine and without TLS, which is not what is tried. */
const PROXIES = {
  nginx: (block: string, port: number) => {
    const [, map = ''] = /In the http block: (map .*)$/m.exec(block) ?? [];
    const site = block.replace('listen 443 ssl;', `listen 127.0.0.1:${port};`);
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const file = join(folder, 'nginx.conf');
    writeFileSync(
      file,
      // What is started by root gives up being that, and could not write here any more.
      `${userInfo().uid === 0 ? 'user root;' : ''} daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}
       http { access_log off; ${paths.join(' ')}\n${map}\n${site}\n}`,
    );
    return ['-p', folder, '-c', file];
  },
  caddy: (block: string, port: number) => {
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, `{\n  admin off\n}\n${block.replace(HOST, `http://${HOST}:${port}`)}`);
    return ['run', '--config', file, '--adapter', 'caddyfile'];
  },
};

describe.each(Object.entries(PROXIES))('behind %s', (name, prepare) => {
  const missing = spawnSync(name, ['--version']).error === undefined ? '' : `there is no ${name} on this machine`;
  let port = 0;
  let proxy: ReturnType<typeof spawn> | undefined;

  beforeAll(async () => {
    if (missing !== '') return;
    port = await freePort();
    const block = blocks.find(({ prose }) => new RegExp(`## ${name}\\s*$`, 'i').test(prose));
    const text = (block?.text ?? '').replaceAll('127.0.0.1:7420', new URL(server.url).host);
    proxy = spawn(name, prepare(text, port), {
      stdio: 'ignore',
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder },
    });
    await vi.waitFor(async () => expect((await ask({ path: '/health' })).status).toBe(200), { timeout: 20_000 });
  });
  afterAll(async () => {
    if (proxy === undefined) return;
    const ended = once(proxy, 'exit');
    proxy.kill('SIGTERM');
    await ended;
  });

  if (missing !== '') console.warn(`the page on reverse proxies is NOT TRIED: ${missing}`);

  test('an answer arrives as it is made, and not when it is whole', async ({ skip }) => {
    if (missing !== '') skip(missing);
    const body = JSON.stringify({ method: 'chat.send', params: { content: 'x' }, is_stream: true });
    const { times } = await ask({ method: 'POST', path: '/e2a', body, headers: { accept: 'text/event-stream' } });
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1000);
  });

  test('a WebSocket gets through', async ({ skip }) => {
    if (missing !== '') skip(missing);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/e2a/ws`, {
      headers: { Host: HOST, Authorization: `Bearer ${key}` },
    });
    await once(socket, 'open');
    socket.send(
      JSON.stringify({ request_id: `ws-${name}`, method: 'chat.send', params: { content: 'x' }, is_stream: true }),
    );
    for await (const [text] of on(socket, 'message')) {
      const frame = JSON.parse(String(text));
      if (frame.request_id !== `ws-${name}`) continue;
      expect(frame).toMatchObject({ sequence: 0 });
      break;
    }
    socket.close();
    await once(socket, 'close');
  });

  test('the largest message of an endpoint is not too large for the proxy', async ({ skip }) => {
    if (missing !== '') skip(missing);
    // Not a message at all: the server reads all of it, and refuses it.
    const body = JSON.stringify('x'.repeat(9_999_990));
    const { status } = await ask({ method: 'POST', path: '/a2a/messages', body });
    expect(status).toBe(400);
  });

  test('the server distinguishes callers by their address, whatever they claim it is', async ({ skip }) => {
    if (missing !== '') skip(missing);
    const messageId = `msg_1_${name}00001`;
    const body = JSON.stringify({ from: 'Ada', message: 'hi', metadata: { messageId } });
    const [sender, other] = ['127.0.0.2', '127.0.0.3'];
    const sent = await ask({ method: 'POST', path: '/a2a', body, key: '', from: sender });
    expect(sent.status).toBe(200);
    const path = `/a2a/messages/${messageId}`;
    expect((await ask({ path, key: '', from: sender })).status).toBe(200);
    const headers = { 'x-forwarded-for': sender };
    expect((await ask({ path, key: '', from: other, headers })).status).toBe(404);
  });

  /** Sends through the proxy; `times` has the time of each piece of the answer. */
  async function ask({ method = 'GET', path, body = '', headers = {}, key: used = key, from }: Request) {
    const own = used === '' ? {} : { authorization: `Bearer ${used}` };
    const all = { host: HOST, ...(body !== '' && { 'content-type': 'application/json' }), ...own, ...headers };
    const sent = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      headers: all,
      ...(from !== undefined && { localAddress: from }),
    });
    sent.end(body);
    const [answer] = await once(sent, 'response');
    const times: number[] = [];
    for await (const _ of answer) times.push(performance.now());
    return { status: answer.statusCode as number, times };
  }
});

interface Request {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Empty for none. */
  readonly key?: string;
  /** The caller's address. */
  readonly from?: string;
}
