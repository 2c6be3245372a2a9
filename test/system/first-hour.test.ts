import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { dragomanFile } from '../../packages/cli/test-support/dragoman-process.ts';
import { call } from './call.ts';

// What a new user sees of a running server, by the real command.

const folder = mkdtempSync(join(tmpdir(), 'dragoman-first-hour-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ADMIN_KEY = 'adm_first_hour_0123456789abcdef';

writeFileSync(
  join(folder, 'coder.mjs'),
  `console.error('the model is loaded');
process.stdin.on('data', (line) => {
  const { request_id } = JSON.parse(line);
  console.log(JSON.stringify({ request_id, response_kind: 'e2a.complete', is_final: true, body: { result: { text: 'done' } } }));
});`,
);
const agents = { coder: { driver: 'stdio', command: process.execPath, args: [join(folder, 'coder.mjs')] } };
writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify({ port: 0, agents }));

/** The real command until it is disposed of; `noted` is what it writes to stderr, `out` what it writes to stdout. */
async function started(...args: string[]) {
  const child = spawn(process.execPath, [dragomanFile(), ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', DRAGOMAN_ADMIN_KEY: ADMIN_KEY },
  });
  const seen = { out: '', noted: '', url: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    seen.noted += text;
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  const address = () => /http:\/\/[^\s"]+/.exec(seen.out)?.[0] ?? '';
  await expect.poll(() => address() || seen.noted, { timeout: 20_000 }).toMatch(/^http/);
  seen.url = address();
  return { seen, [Symbol.asyncDispose]: stop };
}

async function askCoder(url: string): Promise<void> {
  const caller = { agent_id: 'ada', permissions: { agents: ['*'] } };
  const made = await call(url, { method: 'POST', path: '/admin/v1/agents', key: ADMIN_KEY, json: caller });
  const { api_key: key } = (await made.json()) as { api_key: string };
  const json = { method: 'chat.send', params: { content: 'hello' }, is_stream: false };
  const answer = await call(url, { method: 'POST', path: '/e2a/agents/coder?token=hidden', key, json });
  expect(await answer.text()).toContain('done');
}

test('serve shows what a program writes to stderr with the id of its agent, and requests where log.access is on', async () => {
  const config = { port: 0, agents, log: { access: true } };
  writeFileSync(join(folder, 'access.yaml'), JSON.stringify(config));
  await using running = await started('serve', '--config', 'access.yaml', '--data', 'serve');
  await askCoder(running.seen.url);
  await expect.poll(() => running.seen.noted).toContain('[coder] the model is loaded\n');
  await expect.poll(() => running.seen.noted).toMatch(/^POST \/e2a\/agents\/coder 200 \d+ ms ada$/m);
  expect(running.seen.noted).not.toContain('hidden');
});

test('serve writes no requests by default, and no stderr of programs at --log-level warn', async () => {
  await using running = await started('serve', '--data', 'quiet', '--log-level', 'warn');
  await askCoder(running.seen.url);
  expect((await call(running.seen.url, { path: '/health' })).status).toBe(200);
  expect(running.seen.noted).toBe('');
});

test('dev writes its requests, those of the first look left out', async () => {
  await using running = await started('dev', '--data', 'dev', '--port', '0');
  await expect.poll(() => running.seen.out, { timeout: 40_000 }).toContain('Try, in another terminal:');
  expect(running.seen.noted).not.toContain(' ms');
  await askCoder(running.seen.url);
  await expect.poll(() => running.seen.noted).toMatch(/^POST \/e2a\/agents\/coder 200 \d+ ms/m);
  expect(running.seen.noted).toContain('[coder] the model is loaded\n');
});

test('GET / and unknown paths point to the documentation and the description', async () => {
  await using running = await started('serve', '--data', 'paths');
  const { url } = running.seen;
  const root = await (await call(url, { path: '/' })).json();
  expect(root).toMatchObject({ openapi: '/openapi.json', documentation: expect.stringContaining('docs/README.md') });
  const unknown = await call(url, { path: '/no/such/path' });
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({
    suggestions: [expect.stringContaining('/openapi.json'), expect.any(String)],
  });
});

test('serve prints every address where it is reached when it listens on all of them', async () => {
  await using running = await started('serve', '--host', '0.0.0.0', '--data', 'everywhere');
  await expect.poll(() => running.seen.out).toContain('Stop it with Ctrl-C.');
  const { port } = new URL(running.seen.url);
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const printed = running.seen.out.split(/\s+/);
  for (const { family, address } of all) {
    if (family === 'IPv4' && !address.startsWith('169.254.')) expect(printed).toContain(`http://${address}:${port}`);
  }
});

test('a key that expires is listed with its end, and refused from then on', async () => {
  await using running = await started('serve', '--data', 'keys');
  const { url } = running.seen;
  await askCoder(url);
  const json = { agent_id: 'ada', expires_in_seconds: 1 };
  const made = await call(url, { method: 'POST', path: '/admin/v1/keys', key: ADMIN_KEY, json });
  const { api_key: key, expires_at: end } = (await made.json()) as { api_key: string; expires_at: string };
  const listed = await (await call(url, { path: '/admin/v1/keys', key: ADMIN_KEY })).text();
  expect(listed).toContain(`"expires_at":"${end}"`);
  const status = async () => (await call(url, { path: '/api/v1/rate-limit/status', key })).status;
  await expect.poll(status, { timeout: 5000 }).toBe(401);
});
