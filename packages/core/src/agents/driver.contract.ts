import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type E2AEnvelope, type E2AResponse, FrameOrder, failure, type Issue, newEnvelope } from '@dragoman/protocols';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import type { Handler } from '../call/handler.ts';
import { ALL_PERMISSIONS } from '../call/principal.ts';
import { openGate } from '../gate/network-gate.ts';
import { Refused } from '../refusals/refused.ts';
import type { Agent, AgentPart } from './agent.ts';
import { answering } from './answering.ts';
import { eventually } from './call.contract.ts';
import type { DriverContext } from './open-agent.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** A driver with an agent that behaves as `fixtures/behaviours.mjs` defines. */
export interface DriverUnderTest {
  readonly name: string;
  /** `inside` this process, over a connection for `each` request, or over one connection that `all` requests share. */
  readonly reach: 'inside' | 'each' | 'all';
  open(context: Pick<DriverContext, 'clock' | 'ids' | 'log' | 'gate'>): Promise<Agent>;
  /** Closes everything that `open` set up beside the agent. */
  close(): Promise<void>;
}

/** The behaviour that every driver must have. */
export function describeDriver(driver: DriverUnderTest): void {
  describe(`the ${driver.name} driver`, () => {
    const clock = new TestClock();
    const ids = new TestIds();
    const log = new SilentLog();
    let agent: Agent;
    let handler: Handler;

    beforeEach(async () => {
      agent = await driver.open({ clock, ids, log, gate: openGate({ clock, log: new SilentLog() }) });
      handler = answering(agent, { clock, ids });
    });
    afterEach(async () => {
      await agent[Symbol.asyncDispose]();
      await driver.close();
    });

    const frames = (content: string, more: Ask = {}) => all(handler(envelopeOf(content, more), callOf(more)));
    const parts = (content: string) => agent.answer(envelopeOf(content), callOf({}))[Symbol.asyncIterator]();
    const callOf = ({ signal = new AbortController().signal }: Ask) => ({
      principal: { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS } as const,
      signal,
      log,
    });

    test("passes on the agent's answer word by word, and its end", async () => {
      const answer = await frames('words to be or not');
      expect(answer.map((frame) => frame.body)).toEqual([
        ...['to', 'be', 'or', 'not'].map((delta) => ({ delta_kind: 'text', delta })),
        { result: { words: ['to', 'be', 'or', 'not'] } },
      ]);
      expect(answer.at(-1)).toMatchObject({ response_kind: 'e2a.complete', status: 'succeeded', is_final: true });
    });

    test('passes on an error of the agent with its own code', async () => {
      const answer = await frames('throw');
      expect(answer).toHaveLength(2);
      expect(answer[1]).toMatchObject({
        response_kind: 'e2a.error',
        status: 'failed',
        body: { code: 'OUT_OF_COINS', message: 'no coins' },
      });
    });

    test('sends a cancellation to an agent that hangs, and does not wait for it, when the request is cancelled', async () => {
      const controller = new AbortController();
      const reason = new Refused(failure('cancelled'));
      const hanging = handler(envelopeOf('hang', { id: 'hung' }), callOf({ signal: controller.signal }));
      const seen: E2AResponse[] = [];
      const outcome = (async () => {
        for await (const frame of hanging) {
          seen.push(frame);
          controller.abort(reason);
        }
      })();
      // An agent inside this process cannot be stopped; its reader does not wait for it.
      if (driver.reach !== 'inside') await expect(outcome).rejects.toBe(reason);
      await eventually(() => seen.map((frame) => frame.body['delta'])).toEqual(['hold on']);
      const stopped = async () => (await frames('stopped'))[0]?.body['result'];
      await eventually(stopped).toEqual({ stopped: expect.arrayContaining(['hung']) });
    });

    test('rejects a request that was cancelled before it was sent with the reason only', async () => {
      const reason = new Refused(failure('cancelled'));
      const signal = AbortSignal.abort(reason);
      if (driver.reach !== 'inside') await expect(frames('words a', { signal })).rejects.toBe(reason);
    });

    test('loses nothing of a flood when the reader is slow', async () => {
      const count = 10_000;
      const order = new FrameOrder();
      const issues: Issue[] = [];
      let read = 0;
      for await (const frame of handler(envelopeOf(`flood ${count} 1000`), callOf({}))) {
        issues.push(...order.receive(frame));
        if (read++ % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      expect([...issues, ...order.end()]).toEqual([]);
      expect(read).toBe(count + 1);
    });

    test('gives each of many concurrent requests its own answer, even if their ids are the same', async () => {
      const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
      const answers = await Promise.all(
        words.map((word, index) => frames(`later ${word}`, { id: index % 2 === 0 ? 'same' : word })),
      );
      expect(answers.map((answer) => answer.map((frame) => frame.body))).toEqual(
        words.map((word) => [{ delta_kind: 'text', delta: word }, { result: { word } }]),
      );
      expect(answers.map((answer) => answer[0]?.request_id)).toEqual(
        words.map((word, index) => (index % 2 === 0 ? 'same' : word)),
      );
    });

    if (driver.reach !== 'inside') describeRemote(driver, { frames, parts, clock, log });
  });
}

/** Behaviour that is only possible for an agent outside this process. */
function describeRemote({ reach }: DriverUnderTest, { frames, parts, clock, log }: Remote): void {
  test.each([
    ['gap', 1, 'sequence must be 1 here; got 2'],
    ['backwards', 3, 'sequence must be 3 here; got 0'],
    ['repeated', 1, 'sequence must be 1 here; got 0'],
    ['kindless', 0, 'response_kind is required'],
    ['bodiless', 0, 'status must be'],
    ['nan', 0, 'NaN'],
  ])('ends an answer at the first invalid frame: %s', async (behaviour, before, words) => {
    const answer = await frames(behaviour);
    expect(answer).toHaveLength(before + 1);
    expect(answer.at(-1)).toMatchObject({ response_kind: 'e2a.error', status: 'failed', is_final: true });
    expect(answer.at(-1)?.body).toMatchObject({ code: 'E2A.AGENT_ERROR', details: { fault: 'agent' } });
    expect(answer.at(-1)?.body['message']).toContain(words);
    expect(await frames('words fine')).toHaveLength(2);
  });

  test('accepts the first of two ends, and nothing after it', async () => {
    const answer = await frames('twice');
    expect(answer.map((frame) => frame.body)).toEqual([{ result: 'first' }]);
    expect(await frames('words fine')).toHaveLength(2);
  });

  test('never passes on a frame that names another request', async () => {
    const answer = await frames('misaddressed');
    expect(JSON.stringify(answer)).not.toContain('not yours');
    expect(answer).toHaveLength(1);
    if (reach === 'all') expect(answer[0]?.body).toEqual({ result: 'yours' });
    else expect(answer[0]?.body['message']).toContain('request_id must be');
  });

  test('ends the request of an invalid frame if it can belong to only one, and logs it otherwise', async () => {
    const before = log.lines.length;
    const answer = await frames('noise');
    expect(answer).toHaveLength(1);
    if (reach === 'all') expect(answer[0]?.body).toEqual({ result: 'after the noise' });
    else expect(answer[0]).toMatchObject({ response_kind: 'e2a.error', body: { code: 'E2A.AGENT_ERROR' } });
    expect(log.lines.slice(before).map((line) => line.level)).toContain('warn');
  });

  test('ends an answer with a frame that is too large, and no other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
    const other = parts(`patient ${folder}`);
    await other.next();
    const answer = await frames('huge');
    expect(answer).toHaveLength(1);
    expect(answer[0]).toMatchObject({ is_final: true, body: { code: 'E2A.AGENT_ERROR' } });
    expect(answer[0]?.body['message']).toContain('expected at most 8388608 bytes in');
    rmSync(folder, { recursive: true });
    expect((await other.next()).value).toMatchObject({ frame: { body: { result: 'here I am' } } });
    await other.return?.();
  });

  test('ends an answer whose agent dies, and reaches the agent again afterwards', async () => {
    const answer = await frames('die');
    // Frames sent just before the end of a connection can be lost with it.
    expect(answer.map((frame) => frame.response_kind).slice(reach === 'all' ? 0 : -1)).toEqual(
      reach === 'all' ? ['e2a.chunk', 'e2a.error'] : ['e2a.error'],
    );
    expect(answer.at(-1)?.body).toMatchObject({ code: 'E2A.AGENT_ERROR', details: { retryable: true } });
    clock.pass(1000);
    expect(await frames('words fine')).toHaveLength(2);
  });

  test('makes an agent wait if it is faster than its reader', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
    const file = join(folder, 'sent');
    const sent = () => Number(existsSync(file) ? readFileSync(file, 'utf8') : 0);
    const reader = parts(`torrent ${folder}`);
    await reader.next();
    await eventually(sent).toBeGreaterThan(0);
    // Meanwhile, a driver that does not wait for its reader would have read most of the torrent.
    for (let turn = 0; turn < 5; turn++) await once(spawn(process.execPath, ['-e', '']), 'exit');
    expect(sent()).toBeLessThan(32);
    rmSync(folder, { recursive: true });
    await reader.return?.();
  });

  test('leaves signs of life and pushes out of the answer', async () => {
    expect((await frames('signs')).map((frame) => frame.body)).toEqual([{ result: 'done' }]);
  });

  test('accepts frames without numbers, and the end that their kind implies', async () => {
    const answer = await frames('unnumbered');
    expect(answer.map(({ sequence, is_final, status }) => [sequence, is_final, status])).toEqual([
      [0, false, 'in_progress'],
      [1, true, 'succeeded'],
    ]);
  });

  test('accepts answers from before E2A', async () => {
    const answer = await frames('legacy');
    expect(answer.map((frame) => [frame.response_kind, frame.body['delta'] ?? frame.body['result']])).toEqual([
      ['e2a.chunk', 'old'],
      ['e2a.complete', { content: 'older' }],
    ]);
  });

  test('accepts an error with any number', async () => {
    const answer = await frames('accident');
    expect(answer.map((frame) => frame.sequence)).toEqual([0, 1, 2]);
    expect(answer[2]?.body).toMatchObject({ message: 'handler exploded' });
  });

  test('keeps kinds, bodies and projections, but not the identity that the agent claims', async () => {
    const [first] = await frames('own');
    expect(first).toMatchObject({
      response_kind: 'acme.news',
      body: { a: 1 },
      projections: { acp: { b: 2 } },
      extras: { novel: true },
      identity_origin: 'agent',
      source_agent_id: null,
    });
    expect(first?.response_id).not.toBe('x');
    expect(first?.timestamp).toMatch(/^2026/);
  });

  test('sends the secrets of the envelope to its agent', async () => {
    const auth = { ...newEnvelope().auth, bearer_token: 'tok', extra_headers: {} } as E2AEnvelope['auth'];
    const answer = await frames('secrets', { envelope: { auth } });
    expect(answer[0]?.body['result']).toMatchObject({ bearer_token: 'tok' });
  });
}

interface Ask {
  readonly id?: string;
  readonly signal?: AbortSignal;
  readonly envelope?: Partial<E2AEnvelope>;
}

interface Remote {
  readonly clock: TestClock;
  readonly log: SilentLog;
  frames(content: string, more?: Ask): Promise<E2AResponse[]>;
  parts(content: string): AsyncIterator<AgentPart>;
}

let requests = 0;

function envelopeOf(content: string, { id, envelope = {} }: Ask = {}): E2AEnvelope {
  const request_id = id ?? `request-${++requests}`;
  return newEnvelope({ request_id, method: 'chat.send', is_stream: true, params: { content }, ...envelope });
}

/** The frames of an answer, checked to be in order, without gaps, and with one final frame at the end. */
async function all(answer: AsyncIterable<E2AResponse>): Promise<E2AResponse[]> {
  const found: E2AResponse[] = [];
  const order = new FrameOrder();
  for await (const frame of answer) {
    expect(order.receive(frame)).toEqual([]);
    found.push(frame);
  }
  expect(order.end()).toEqual([]);
  return found;
}
