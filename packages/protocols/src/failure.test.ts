import { describe, expect, test } from 'vitest';
import { FAILURES, type FailureCode, type FailureRow, failure } from './failure.ts';

const rows = Object.entries(FAILURES) as [FailureCode, FailureRow][];

test('a failure has the wording, the fault and the retry rule of its code', () => {
  expect(failure('rate_limited', { retry_after: 7 })).toEqual({
    code: 'rate_limited',
    fault: 'sender',
    retryable: true,
    message: 'Rate limit exceeded.',
    details: { retry_after: 7 },
  });
});

test('its sentence can be replaced, the rest cannot', () => {
  expect(failure('not_found', {}, 'There is no thread t-1.')).toEqual({
    code: 'not_found',
    fault: 'sender',
    retryable: false,
    message: 'There is no thread t-1.',
    details: {},
  });
});

test('it is plain data: it survives being written and read', () => {
  const made = failure('invalid_message', { issues: [{ pointer: '/a', code: 'required', message: 'a is required' }] });
  expect(JSON.parse(JSON.stringify(made))).toEqual(made);
});

describe.each(rows)('%s', (_, row) => {
  test('has an HTTP status that shows whose fault it is', () => {
    expect(row.http).toBeGreaterThanOrEqual(400);
    expect(row.http).toBeLessThanOrEqual(599);
    if (row.fault !== 'sender') expect(row.http).toBeGreaterThanOrEqual(500);
  });

  test('has a JSON-RPC number of the reserved range', () => {
    expect(row.jsonrpc).toBeGreaterThanOrEqual(-32899);
    expect(row.jsonrpc).toBeLessThanOrEqual(-32000);
  });

  test('has a name in the style of each wire and a sentence', () => {
    expect(row.a2a).toMatch(/^[A-Z]+(?:_[A-Z]+)*$/);
    expect(row.wire).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
    expect(row.workflow).toMatch(/^[A-Z][a-z]+Error$/);
    expect(row.e2a).toMatch(/^E2A\.[A-Z]+(?:_[A-Z]+)*$/);
    expect(row.text).toMatch(/^[A-Z].+\.$/);
  });
});

test('temporary failures are retryable, mistakes of the sender are not', () => {
  const retryable = rows.filter(([, row]) => row.retryable).map(([code]) => code);
  for (const code of ['rate_limited', 'busy', 'timeout', 'store_unavailable', 'interrupted'])
    expect(retryable).toContain(code);
  for (const code of ['not_json', 'invalid_message', 'forbidden', 'conflict', 'expired'])
    expect(retryable).not.toContain(code);
});
