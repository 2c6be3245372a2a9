import type { E2AResponse } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import type { FrameRow } from '../store/store.ts';
import { JournalPages } from './journal-pages.ts';
import { Run } from './run.ts';
import { RunCounts } from './run-counts.ts';

const KEY = { owner: 'ann', requestId: 'r1' };
const FRAMES = 400;

test('readers of a live answer of 8 MiB get every frame once and in order, however slow they are and whenever they start', async () => {
  const run = await startRun();
  const received = { fast: [] as FrameRow[], slow: [] as FrameRow[] };
  const fast = readAll(run, received.fast);
  const late: Promise<void>[] = [];
  const lateReceived: FrameRow[][] = [];
  for (let sequence = 0; sequence < FRAMES; sequence += 1) {
    await run.give(frame(sequence));
    // One reader takes a single batch now and then, and falls behind what is kept in memory.
    if (sequence % 100 === 50) received.slow.push(...(await run.after(received.slow.length - 1)));
    if (sequence % 150 === 149) {
      const own: FrameRow[] = [];
      lateReceived.push(own);
      late.push(readAll(run, own));
    }
  }
  await Promise.all([fast, readAll(run, received.slow), ...late]);
  for (const rows of [received.fast, received.slow, ...lateReceived]) {
    expect(rows.map(({ sequence }) => sequence)).toEqual(Array.from({ length: FRAMES }, (_, sequence) => sequence));
    expect(rows.every(({ sequence, text }) => JSON.parse(text).body.delta.startsWith(`${sequence}:`))).toBe(true);
    expect(rows.at(-1)?.isFinal).toBe(true);
  }
});

test('of a long answer the newest frames are read from memory, and the others from the journal', async () => {
  const { run, reads } = await countedRun();
  for (let sequence = 0; sequence < FRAMES; sequence += 1) await run.give(frame(sequence));
  expect((await run.after(FRAMES - 2)).map(({ sequence }) => sequence)).toEqual([FRAMES - 1]);
  expect(reads).toEqual([]);
  expect((await run.after(-1)).at(0)?.sequence).toBe(0);
  expect(reads).toEqual([-1]);
});

async function readAll(run: Run, received: FrameRow[]): Promise<void> {
  for (;;) {
    const rows = await run.after(received.length - 1);
    received.push(...rows);
    if (rows.length === 0 || rows.at(-1)?.isFinal === true) return;
  }
}

async function startRun(): Promise<Run> {
  return (await countedRun()).run;
}

/** With the sequences after which frames were read from the journal. */
async function countedRun(): Promise<{ run: Run; reads: number[] }> {
  const { requests } = memoryStore();
  const row = { ...KEY, agentId: 'a', sessionId: null, idempotencyKey: null, envelope: '{}', acceptedAt: 1 };
  const accepted = await requests.accept({ ...row, state: 'started', expiresAt: null, priority: 1 });
  const held = 'held' in accepted ? accepted.held : null;
  const reads: number[] = [];
  const store: typeof requests = {
    ...requests,
    frames: (key, range) => {
      reads.push(range.after);
      return requests.frames(key, range);
    },
  };
  const patience = {
    clock: new TestClock(),
    log: new SilentLog(),
    signal: new AbortController().signal,
    what: 'an answer',
  };
  return {
    run: new Run({
      key: KEY,
      held,
      agentId: 'a',
      store,
      pages: new JournalPages(store),
      counts: new RunCounts(),
      patience,
    }),
    reads,
  };
}

/** 20 KiB each, so that all of them are several times what a run keeps in memory. */
function frame(sequence: number): E2AResponse {
  return {
    protocol_version: '1.0',
    response_id: `f${sequence}`,
    request_id: KEY.requestId,
    sequence,
    is_final: sequence === FRAMES - 1,
    status: 'in_progress',
    response_kind: 'e2a.chunk',
    timestamp: '2026-01-01T00:00:00.000Z',
    metadata: { length: 'long' },
    extras: {},
    body: { delta: `${sequence}:${'x'.repeat(20_480)}` },
  } as unknown as E2AResponse;
}
