/**
 * Writes a data folder with the built server, to be opened by later versions: `node test/system/old-data/write.mjs VERSION`.
 * Run it once before a release. The server is killed while requests, executions and callbacks are under way.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const agents = join(here, '..', 'agents');
const [version] = process.argv.slice(2);
if (version === undefined) throw new Error('name the version, for example 0.1.0');

const temporary = mkdtempSync(join(tmpdir(), 'dragoman-old-data-'));
const data = join(temporary, 'data');
const config = {
  port: 0,
  default_agent: 'letters',
  agents: {
    letters: { driver: 'module', module: join(agents, 'letters.mjs') },
    held: { driver: 'module', module: join(agents, 'held.mjs'), max_parallel: 1 },
  },
  // Nothing listens there, so the callback stays pending.
  gate: { callbacks: ['127.0.0.1:9'] },
};
writeFileSync(join(temporary, 'dragoman.yaml'), JSON.stringify(config));
const adminKey = `adm_${'0'.repeat(32)}`;
const command = join(here, '../../../packages/cli/bin/dragoman.js');
const server = spawn(
  process.execPath,
  [command, 'serve', '--json', '--config', join(temporary, 'dragoman.yaml'), '--data', data],
  { env: { PATH: process.env.PATH, DRAGOMAN_ADMIN_KEY: adminKey }, stdio: ['ignore', 'pipe', 'inherit'] },
);
const [line] = await once(createInterface({ input: server.stdout }), 'line');
const { url } = JSON.parse(line);

async function post(path, body, key, headers = {}) {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

const all = ['*'];
const permissions = { operations: all, apis: all, credentials: [], agents: all, tools: all, workflows: all };
const { api_key: key } = await (
  await post('/admin/v1/agents', { agent_id: 'old-agent', permissions }, adminKey)
).json();
const step = (operationId, operation) => JSON.stringify({ type: 'operationUpdate', operationId, operation });
const begin = (executionId, ...operationOrder) =>
  JSON.stringify({ type: 'beginExecution', executionId, operationOrder });
const now = step('now', { GetCurrentDateTime: { outputPath: '/workflow/now' } });
const store = step('store', { StoreData: { inputPath: '/workflow/now', storage: 'localStorage', key: 'old-key' } });
const wait = step('wait', { Wait: { duration: 1_500 } });

const finished = await post('/e2a', { request_id: 'finished', is_stream: true, params: { content: 'hello' } }, key, {
  accept: 'application/x-ndjson',
});
const frames = (await finished.text()).trim().split('\n');
const execution = await (
  await post(
    '/api/v1/workflows/execute',
    { workflow: [now, store, begin('exec-finished', 'now', 'store')].join('\n') },
    key,
  )
).json();
const mail = (from, metadata) => ({ from: { name: 'Old', ...from }, message: 'hello', metadata });
await post('/a2a', mail({}, { messageId: 'msg-old', threadId: 'thread-old' }), key);
const opened = await post(
  '/e2a',
  { request_id: 'started', agent_ref: { id: 'held' }, is_stream: true, params: {} },
  key,
  { accept: 'application/x-ndjson' },
);
const begun = new TextDecoder().decode((await opened.body.getReader().read()).value).trim();
post('/e2a', { request_id: 'waiting', agent_ref: { id: 'held' }, params: { content: 'later' } }, key).catch(() => {});
await post(
  '/api/v1/workflows/execute',
  { workflow: [now, wait, store, begin('exec-running', 'now', 'wait', 'store')].join('\n') },
  key,
  { prefer: 'respond-async' },
);
await post(
  '/a2a',
  mail({ callbackUrl: 'https://127.0.0.1:9/answers' }, { messageId: 'msg-callback', threadId: 'thread-callback' }),
  key,
);
while (
  (await fetch(`${url}/e2a/requests/waiting/responses`, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(50),
  }).then(
    (a) => a.status,
    () => 200,
  )) === 404
);
server.kill('SIGKILL');
await once(server, 'close');

const folder = join(here, version);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
// Space kept free for a full disk, files of the killed process, and keys, which are made again.
const left = ['ballast', 'dragoman.db-shm', 'dragoman.lock', 'dragoman.owner', 'callbacks.pem', 'messages.pem'];
cpSync(data, join(folder, 'data'), { recursive: true, filter: (path) => !left.includes(basename(path)) });
writeFileSync(join(folder, 'expected.json'), `${JSON.stringify({ key, frames, begun, execution }, null, 2)}\n`);
rmSync(temporary, { recursive: true });
