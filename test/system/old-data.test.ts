import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allFrames, call } from './call.ts';
import { moduleAgent, System } from './system.ts';

const FOLDERS = fileURLToPath(new URL('./old-data/', import.meta.url));
const CENTURY_DAYS = 36_525;
const versions = readdirSync(FOLDERS, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

// Each folder was written by `old-data/write.mjs` with the server of that version, which was then killed.
describe.each(versions)('a data folder of version %s', (version) => {
  const {
    key,
    frames,
    begun: firstFrame,
    execution,
  } = JSON.parse(readFileSync(join(FOLDERS, version, 'expected.json'), 'utf8'));
  const system = System.create({
    needsFolder: 'it opens the folder of an earlier version',
    config: {
      default_agent: 'letters',
      agents: { letters: moduleAgent('letters'), held: { ...moduleAgent('held'), max_parallel: 1 } },
      gate: { callbacks: ['127.0.0.1:9'] },
      // The folders grow older than any server would keep them.
      keep_answers_hours: 24 * CENTURY_DAYS,
      mailbox: { keep_threads_days: CENTURY_DAYS, callbacks: { keep_days: CENTURY_DAYS } },
    },
  });
  const get = (path: string, as: string = key) => call(system.url, { path, key: as });
  const responses = async (id: string) =>
    allFrames(await call(system.url, { path: `/e2a/requests/${id}/responses`, key, accept: 'application/x-ndjson' }));

  beforeAll(async () => {
    cpSync(join(FOLDERS, version, 'data'), system.data, { recursive: true });
    await system.start();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  test('a finished answer is read byte for byte, and a repeat gets it again', async () => {
    expect(await responses('finished')).toEqual(frames);
  });

  test('a request that was running ends as interrupted behind the frames it had', async () => {
    const [first, last, ...more] = await responses('started');
    expect(first).toBe(firstFrame);
    expect(JSON.parse(last ?? '')).toMatchObject({ sequence: 1, is_final: true, body: { code: 'E2A.INTERRUPTED' } });
    expect(more).toEqual([]);
  });

  test('a request that was waiting for its turn runs', async () => {
    const [only] = await responses('waiting');
    expect(JSON.parse(only ?? '')).toMatchObject({ sequence: 0, body: { result: { echoed: 'later' } } });
  });

  test('a finished execution is as it was answered', async () => {
    expect(await (await get('/api/v1/executions/exec-finished')).json()).toEqual(execution);
  });

  test('an execution that was running continues and succeeds', async () => {
    const status = async () => {
      const answer = (await (await get('/api/v1/executions/exec-running')).json()) as { status: string };
      return answer.status;
    };
    await expect.poll(status).toBe('success');
  });

  test('threads have their messages', async () => {
    const thread = await get('/a2a/threads/thread-old');
    expect(thread.status).toBe(200);
    expect(await thread.text()).toContain('You said: hello');
  });

  test('a callback that was pending is still in the outbox', async () => {
    const outbox = await get('/admin/v1/outbox', system.adminKey);
    expect(await outbox.text()).toContain('https://127.0.0.1:9');
  });
});
