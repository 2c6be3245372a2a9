import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allFrames, call } from '../system/call.ts';
import { Caller, fresh } from '../system/caller.ts';
import { moduleAgent, System } from '../system/system.ts';

// A server whose wall clock is set by a file, in milliseconds from the real one.
const system = System.create({
  needsFolder: 'PostgreSQL has its own clock, which no test sets',
  config: {
    default_agent: 'echo',
    agents: { echo: moduleAgent('echo') },
    keep_answers_hours: 1,
    limits: { requests_per_minute: 20, requests_per_hour: 100_000, requests_per_day: 100_000 },
  },
});
const HOUR = 3_600_000;
const file = join(system.folder, 'clock');
const set = (hours: number) => writeFileSync(file, String(hours * HOUR));
const start = () => system.start({ DRAGOMAN_TEST_CLOCK: file });
beforeAll(async () => {
  set(0);
  await start();
});
afterAll(() => system[Symbol.asyncDispose]());

test.each([-2, 26])(
  'a clock that is set by %s hours neither resets nor freezes rate windows, also over a restart',
  async (hours) => {
    const { api_key: key } = await system.caller(`rates-${hours + 100}-agent`);
    const ask = () => call(system.url, { method: 'POST', path: '/e2a', key, json: { request_id: fresh() } });
    set(0);
    for (let sent = 0; sent < 20; sent += 1) expect((await ask()).status).toBe(200);
    const wait = await refusedFor(ask);
    set(hours);
    expect(await refusedFor(ask)).toBeLessThanOrEqual(wait);
    set(0);
    // What was counted is written every second, and at a stop.
    await system.stop();
    if (hours < 0) set(hours);
    await start();
    expect(await refusedFor(ask)).toBeLessThanOrEqual(61);
    set(0);
    await system.stop();
    await start();
  },
);

test('a clock that jumps ahead does not delete answers, nor does a restart with it', async () => {
  const ada = new Caller(system, (await system.caller('ada-agent')).api_key);
  const id = fresh();
  const frames = await allFrames(await ada.post({ request_id: id, params: { content: 'kept' } }));
  await system.stop();
  set(48);
  const from = system.log.length;
  await start();
  await expect.poll(() => system.log.slice(from)).toContain('nothing is deleted for an hour');
  // Old data is looked for a second after the server is ready.
  const ready = await secondsSinceStart();
  await expect.poll(secondsSinceStart).toBeGreaterThan(ready + 3);
  expect(await ada.resume(id)).toEqual(frames);
  set(0);
});

/** The seconds of Retry-After for a refused caller. */
async function refusedFor(ask: () => ReturnType<typeof call>): Promise<number> {
  const refused = await ask();
  expect(refused.status).toBe(429);
  return Number(refused.headers['retry-after']);
}

async function secondsSinceStart(): Promise<number> {
  const text = await (await call(system.url, { path: '/metrics', key: system.adminKey })).text();
  const started = Number(/^process_start_time_seconds (\S+)$/m.exec(text)?.[1]);
  return Date.now() / 1000 - started;
}
