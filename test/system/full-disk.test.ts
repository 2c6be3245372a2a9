import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { smallDisk } from '../../packages/core/test-support/small-disk.ts';
import { allFrames, call } from './call.ts';
import { read } from './caller.ts';
import { CountingApi, send } from './counting-api.ts';
import { agentModule, System } from './system.ts';
import { WorkflowCaller, workflowOf } from './workflow-caller.ts';

const api = await CountingApi.start();
const system = System.create({
  needsFolder: 'its folder is on a small disk',
  config: {
    gate: { allow: [api.host] },
    apis: { counting: { base_url: api.url, description: 'Counts.', endpoints: [] } },
    default_agent: 'echo',
    agents: {
      echo: { driver: 'module', module: agentModule('echo') },
      held: { driver: 'module', module: agentModule('held') },
    },
  },
});
const disk = smallDisk(system.data, { megabytes: 48 });
const { why } = disk;

afterAll(async () => {
  await system.kill();
  disk[Symbol.dispose]();
  await system[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

test.runIf(why === '')(
  'with a full disk the server refuses new work, answers reads, can start, and recovers by itself',
  {
    timeout: 120_000,
  },
  async () => {
    await system.start();
    const { api_key: key } = await system.caller('caller-agent');
    const send = (requestId: string, more: object = {}) =>
      call(system.url, { method: 'POST', path: '/e2a', key, json: { request_id: requestId, ...more } });
    const resume = (requestId: string) =>
      call(system.url, { path: `/e2a/requests/${requestId}/responses`, key, accept: 'application/x-ndjson' });

    const before = await allFrames(await send('before', { params: { content: 'hello' } }));
    const running = await call(system.url, {
      method: 'POST',
      path: '/e2a',
      key,
      accept: 'application/x-ndjson',
      json: { request_id: 'running', agent_ref: { id: 'held' }, is_stream: true, params: {} },
    });
    await running.frames().next();

    fill();
    // There may be room left inside the files.
    let id = 'fits';
    let refused = await send(id);
    for (let count = 0; refused.status === 200 && count < 5000; count++) {
      id = `more-${count}`;
      await refused.text();
      refused = await send(id);
    }
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([503, true]);
    expect((await call(system.url, { path: '/health' })).status).toBe(200);
    expect(await allFrames(await resume('before'))).toEqual(before);

    // One that dies now starts again where nothing can be written.
    await system.kill();
    await system.start();
    expect(await allFrames(await resume('before'))).toEqual(before);

    rmSync(join(system.data, 'filler'));
    await expect.poll(async () => (await send(`again-${Math.random()}`)).status, POLL).toBe(200);
    const ended = (await allFrames(await resume('running'))).map(read);
    expect(ended.map(({ sequence, is_final }) => [sequence, is_final])).toEqual([
      [0, false],
      [1, true],
    ]);
    expect(ended[1]?.body['code']).toBe('E2A.INTERRUPTED');
    expect((await send(id)).status).toBe(200);
  },
);

test.runIf(why === '')(
  'a file of StoreData that finds no room is written when there is some',
  { timeout: 120_000 },
  async () => {
    const permissions = { operations: ['*'], apis: ['*'] };
    const { api_key: key } = await system.caller('keeper-agent', { permissions });
    const keeper = new WorkflowCaller(system, key);
    let release = () => {};
    const isFull = new Promise<void>((resolve) => {
      release = resolve;
    });
    api.behaviours.set('GET /data', (_, response) => void isFull.then(() => send(response, 200, 'x'.repeat(300_000))));
    const workflow = workflowOf(
      {
        data: { ApiCall: { method: 'GET', url: `${api.url}/data`, outputPath: '/workflow/data' } },
        keep: { StoreData: { inputPath: '/workflow/data', storage: 'file', key: 'large' } },
      },
      { id: 'keeps' },
    );
    const accepted = await keeper.post('execute', { workflow }, { headers: { Prefer: 'respond-async' } });
    expect(accepted.status).toBe(202);
    fill();
    const from = system.log.length;
    release();
    await expect.poll(() => system.log.slice(from), POLL).toContain('an execution could not be recorded yet');
    rmSync(join(system.data, 'filler'));
    await expect.poll(async () => (await keeper.get('executions/keeps')).json['status'], POLL).toBe('success');
  },
);

if (why !== '') test.skip(`a disk that is really full${why}`, () => {});

/** Takes what is left of the disk. */
function fill(): void {
  const file = openSync(join(system.data, 'filler'), 'w');
  try {
    for (let bytes = 1 << 20; bytes >= 512; ) {
      try {
        writeSync(file, Buffer.alloc(bytes, 1));
      } catch {
        bytes >>= 1;
      }
    }
  } finally {
    closeSync(file);
  }
}

const POLL = { timeout: 30_000, interval: 50 };
