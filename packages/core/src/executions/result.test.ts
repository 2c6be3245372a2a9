import { expect, test } from 'vitest';
import { BriefWriter, wholeText } from '../brief-text.ts';
import type { ExecutionRow } from '../store/executions.ts';
import { type EndedRun, resultOf } from './result.ts';

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

test('a result tells what came of an execution, and when', () => {
  const at = Date.parse('2026-02-28T23:59:59.999Z');
  expect(JSON.parse(resultText(rowAt(at), run, at + 8))).toEqual({
    execution_id: 'e-1',
    status: 'success',
    results: { a: 1 },
    duration_ms: 8,
    started_at: '2026-02-28T23:59:59.999Z',
    completed_at: '2026-03-01T00:00:00.007Z',
  });
});

test('what was skipped and went wrong is in it', () => {
  const errors = [1, 2].map((count) => ({ type: 'ExecutionError', message: `"${count}"` }) as const);
  const text = resultText(rowAt(0), { ...run, status: 'error', skipped: ['b'], errors }, 0);
  expect(JSON.parse(text)).toMatchObject({ skipped: ['b'], error: errors[0], errors });
  expect(JSON.parse(text).started_at).toBe('1970-01-01T00:00:00.000Z');
  expect(JSON.parse(resultText(rowAt(0), { ...run, errors: errors.slice(0, 1) }, 0))).not.toHaveProperty('errors');
});

test('what is kept of it is put together to the same text', () => {
  const rows = JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id })));
  const writer = new BriefWriter();
  writer.add(`{"a":${rows},"b":`);
  writer.repeat(rows, 5);
  writer.add('}');
  const { whole, brief } = writer;
  const end = resultOf(rowAt(0), { ...run, results: whole, brief, skipped: ['c'] }, 5);
  expect(JSON.parse(end.result)).toMatchObject({ results: JSON.parse(whole), skipped: ['c'] });
  expect(end.brief && wholeText(end.brief)).toBe(end.result);
});

function resultText(row: ExecutionRow, ended: EndedRun, endedAt: number): string {
  return resultOf(row, ended, endedAt).result;
}
