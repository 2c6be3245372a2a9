import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { encodeUtf8 } from '../platform.ts';
import { CHECKLIST, type ChecklistName, checklist, MAX_MESSAGE_BYTES } from './checklist.ts';

const NOW = new Date('2025-12-09T15:30:10.000Z');
const request = {
  message_id: 'a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40',
  message_type: 'request',
  sender_id: 'client-agent-001',
  recipient_id: 'crypto-agent-001',
  timestamp: '2025-12-09T15:30:00.000Z',
  payload: { method: 'get_price' },
  correlation_id: null,
};

function failing(json: Json, now = NOW): ChecklistName[] {
  const rows = checklist(encodeUtf8(JSON.stringify(json)), now);
  expect(rows.map(({ name }) => name)).toEqual(CHECKLIST);
  return rows.filter(({ verdict }) => verdict === 'fail').map(({ name }) => name);
}

describe('the validation checklist', () => {
  test('a good message passes every line', () => {
    expect(checklist(encodeUtf8(JSON.stringify(request)), NOW).every(({ verdict }) => verdict === 'pass')).toBe(true);
  });

  const auth = { agent_id: 'other-agent', timestamp: request.timestamp, nonce: 'a'.repeat(32), signature: 'AAAA' };
  test.each<[ChecklistName, Json]>([
    ['valid_json', ['an array']],
    ['required_fields', { ...request, payload: undefined } as unknown as Json],
    ['message_id', { ...request, message_id: '1' }],
    ['message_type', { ...request, message_type: 'ask' }],
    ['timestamp_format', { ...request, timestamp: 'now' }],
    ['timestamp_fresh', { ...request, timestamp: '2025-12-09T15:20:00.000Z' }],
    ['sender_id', { ...request, sender_id: '-' }],
    ['recipient_id', { ...request, recipient_id: '-' }],
    ['payload_matches_type', { ...request, payload: {} }],
    ['correlation_id', { ...request, correlation_id: request.message_id }],
    [
      'correlation_id',
      { ...request, message_type: 'error', payload: { error: { code: 'XX', message: 'x' } }, correlation_id: null },
    ],
    ['no_unexpected_fields', { ...request, payload: { method: 'm', x: 1 } }],
    ['authentication', { ...request, auth }],
  ])('the line %s fails alone', (name, json) => {
    expect(failing(json)).toEqual([name]);
  });

  test('several lines fail at once, and freshness is not judged on a message that cannot be read', () => {
    const json = { ...request, message_id: '1', extra: 1, timestamp: '2001-01-01T00:00:00Z' };
    expect(failing(json)).toEqual(['message_id', 'no_unexpected_fields']);
    const rows = checklist(encodeUtf8(JSON.stringify(json)), NOW);
    expect(rows.find(({ name }) => name === 'timestamp_fresh')?.verdict).toBe('skipped');
  });

  test('text that is not JSON fails the first line, and only its size is judged beyond', () => {
    const rows = checklist(encodeUtf8('{"message_id": 1, "message_id": 2}'), NOW);
    expect(rows.filter(({ verdict }) => verdict === 'fail')).toMatchObject([{ name: 'valid_json' }]);
    expect(rows.filter(({ verdict }) => verdict === 'pass').map(({ name }) => name)).toEqual(['size_limit']);
  });

  test('a message above 10 MiB is not even parsed', () => {
    const rows = checklist(new Uint8Array(MAX_MESSAGE_BYTES + 1), NOW);
    expect(rows.filter(({ verdict }) => verdict !== 'skipped')).toMatchObject([
      { name: 'size_limit', verdict: 'fail' },
    ]);
  });
});
