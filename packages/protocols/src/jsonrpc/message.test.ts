import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { decodeJsonRpc } from './message.ts';

describe('JSON-RPC messages are classified', () => {
  test.each([
    ['request', { jsonrpc: '2.0', id: 0, method: 'm' }],
    ['request', { jsonrpc: '2.0', id: null, method: 'm', params: [] }],
    ['notification', { jsonrpc: '2.0', method: 'session/update', params: {} }],
    ['success', { jsonrpc: '2.0', id: 'a', result: null }],
    ['error', { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } }],
  ])('%s: %j', (kind, json) => {
    expect(decodeJsonRpc(json)).toEqual({ ok: true, value: { kind, message: json }, warnings: [] });
  });
});

describe('messages that are not JSON-RPC are explained', () => {
  test.each([
    ['a batch', [{ jsonrpc: '2.0', method: 'm' }], ['batch']],
    ['text', 'hello', ['type']],
    ['neither call nor answer', { jsonrpc: '2.0', id: 1 }, ['not_jsonrpc']],
    ['no version', { id: 1, method: 'm' }, ['required']],
    ['version 1', { jsonrpc: '1.0', id: 1, method: 'm' }, ['const']],
    ['a number as params', { jsonrpc: '2.0', method: 'm', params: 5 }, ['type']],
    ['an id with a fraction', { jsonrpc: '2.0', id: 1.5, method: 'm' }, ['type']],
    ['an answer without an id', { jsonrpc: '2.0', result: 1 }, ['required']],
    ['result and error', { jsonrpc: '2.0', id: 1, result: 1, error: { code: 1, message: '' } }, ['forbidden']],
    ['an error without a code', { jsonrpc: '2.0', id: 1, error: { message: 'x' } }, ['required']],
    ['a code that is text', { jsonrpc: '2.0', id: 1, error: { code: 'E', message: 'x' } }, ['type']],
  ] as [string, Json, string[]][])('%s', (_, json, codes) => {
    const outcome = decodeJsonRpc(json);
    if (outcome.ok) expect.unreachable();
    expect(outcome.issues.map(({ code }) => code)).toEqual(codes);
  });

  test('anything gives an outcome, never an exception', () => {
    fc.assert(fc.property(fc.jsonValue(), (json) => void decodeJsonRpc(json as Json)));
  });
});
