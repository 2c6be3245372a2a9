import { expect, test } from 'vitest';
import type { ExecutionRow } from '../store/executions.ts';
import { stringOf } from '../text/long-text.ts';
import { type EndedRun, resultText } from './result.ts';

const run: EndedRun = { status: 'success', results: '{"a":1}', skipped: [], errors: [] };
const rowAt = (acceptedAt: number): ExecutionRow => ({
  owner: 'agent',
  executionId: 'e-1',
  digest: '',
  idempotencyKey: null,
  request: '',
  acceptedAt,
  end: null,
});

test('a result reports the outcome of an execution, with its time', () => {
  const at = Date.parse('2026-02-28T23:59:59.999Z');
  expect(JSON.parse(textOf(rowAt(at), run, at + 8))).toEqual({
    execution_id: 'e-1',
    status: 'success',
    results: { a: 1 },
    duration_ms: 8,
    started_at: '2026-02-28T23:59:59.999Z',
    completed_at: '2026-03-01T00:00:00.007Z',
  });
});

test('it has the skipped operations and the errors', () => {
  const errors = [1, 2].map((count) => ({ type: 'ExecutionError', message: `"${count}"` }) as const);
  const text = textOf(rowAt(0), { ...run, status: 'error', skipped: ['b'], errors }, 0);
  expect(JSON.parse(text)).toMatchObject({ skipped: ['b'], error: errors[0], errors });
  expect(JSON.parse(text).started_at).toBe('1970-01-01T00:00:00.000Z');
  expect(JSON.parse(textOf(rowAt(0), { ...run, errors: errors.slice(0, 1) }, 0))).not.toHaveProperty('errors');
});

test('long results stay bytes, with the rest around them', async () => {
  const ended: EndedRun = { ...run, results: new TextEncoder().encode('{"a":"é"}'), skipped: ['c'] };
  const result = resultText(rowAt(0), ended, 5);
  if (typeof result === 'string') throw new Error('it is not long');
  expect(result.parts[1]).toBe(ended.results);
  expect(await stringOf(result)).toBe(textOf(rowAt(0), { ...ended, results: '{"a":"é"}' }, 5));
});

function textOf(...ended: Parameters<typeof resultText>): string {
  const text = resultText(...ended);
  return typeof text === 'string' ? text : '';
}
