import type { E2AResponse } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { finishedExecution, type StartedExecution } from '../executions/started-execution.ts';
import type { ExecutionRow } from '../store/executions.ts';
import { executionRequests } from './execution-requests.ts';

const RESULT = '{"execution_id":"e1","status":"success","results":{"a":1},"completed_at":"2026-01-01T00:00:02.000Z"}';
const eventOf = (sequence: number, event: string) =>
  `{"sequence":${sequence},"event":"${event}","execution_id":"e1","operationId":"a"}`;
const EVENTS = [eventOf(0, 'operation-started'), eventOf(1, 'operation-finished')];
const row: ExecutionRow = {
  owner: 'ann',
  executionId: 'e1',
  digest: 'd',
  idempotencyKey: null,
  request: '{"workflow":"{}","onError":"stop"}',
  acceptedAt: Date.parse('2026-01-01T00:00:00Z'),
  end: {
    status: 'success',
    result: RESULT,
    events: `[${EVENTS.join(',')}]`,
    endedAt: Date.parse('2026-01-01T00:00:02Z'),
  },
};
const key = { owner: 'ann', requestId: 'e1' };

function requests(execution: StartedExecution = finishedExecution(row, RESULT)) {
  return executionRequests({
    follow: async ({ owner }) => (owner === 'ann' ? execution : undefined),
    cancel: async () => ({ cancelled: true, status: 'cancelled' }),
    questionState: async () => undefined,
  });
}

async function read(after: number): Promise<E2AResponse[]> {
  const found = await requests()(key);
  const frames: E2AResponse[] = [];
  for await (const frame of found?.read(after) ?? []) frames.push(frame);
  return frames;
}

test('an execution is a request to the target workflows that only its owner finds', async () => {
  expect(await requests()(key)).toMatchObject({
    envelope: {
      request_id: 'e1',
      method: 'workflow.execute',
      agent_ref: { id: 'workflows' },
      params: { onError: 'stop' },
    },
    isFinished: true,
  });
  expect(await requests()({ ...key, owner: 'bob' })).toBeUndefined();
});

test('its frames are its events and its end, the same at any time and from any position', async () => {
  const frames = await read(-1);
  expect(frames.map(({ sequence, is_final }) => [sequence, is_final])).toEqual([
    [0, false],
    [1, false],
    [2, true],
  ]);
  expect(frames.at(-1)).toMatchObject({
    response_kind: 'e2a.complete',
    timestamp: '2026-01-01T00:00:02.000Z',
    body: { result: { results: { a: 1 } } },
  });
  expect(new Set(frames.map(({ response_id }) => response_id)).size).toBe(3);
  for (const after of [-1, 0, 1, 2]) expect(await read(after)).toEqual(frames.slice(after + 1));
});

test('a page has the events so far, and does not wait', async () => {
  const running: StartedExecution = {
    ...finishedExecution(row, RESULT),
    async *eventsSoFar(after) {
      if (after < 0) yield { sequence: 0, event: 'operation-started', data: EVENTS[0] ?? '' };
    },
  };
  const found = await requests(running)(key);
  expect(await found?.page({ after: -1 })).toMatchObject([{ sequence: 0, isFinal: false }]);
  expect(await found?.page({ after: 0 })).toEqual([]);
  const whole = await requests()(key);
  expect(await whole?.page({ after: -1, maxBytes: 1 })).toHaveLength(1);
  expect(await whole?.page({ after: 0 })).toMatchObject([{ sequence: 1 }, { sequence: 2, isFinal: true }]);
});
