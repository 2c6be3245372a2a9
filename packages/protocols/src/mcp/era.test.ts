import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { isModern, type McpHeaders, readModern } from './era.ts';

const meta = (version = '2026-07-28', more: JsonObject = {}) => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
  ...more,
});
const call = (name: string, _meta: JsonObject = meta()): JsonObject => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, _meta },
});
const headers = (name: string | undefined, more: Partial<McpHeaders> = {}): McpHeaders => ({
  version: '2026-07-28',
  method: 'tools/call',
  name,
  ...more,
});
const none: McpHeaders = { version: undefined, method: undefined, name: undefined };

describe('the era is decided for each message', () => {
  test.each<[string, JsonObject, McpHeaders | undefined, boolean]>([
    ['the version in _meta', call('a'), undefined, true],
    ['Mcp-Method alone', call('a', {}), { ...none, method: 'tools/call' }, true],
    ['the modern version in its header', call('a', {}), { ...none, version: '2026-07-28' }, true],
    ['neither', call('a', {}), none, false],
    ['an older version in its header', call('a', {}), { ...none, version: '2025-11-25' }, false],
    [
      'Mcp-Method beside an older version',
      call('a', {}),
      { ...none, method: 'tools/call', version: '2025-11-25' },
      false,
    ],
    ['initialize', { method: 'initialize', params: {} }, none, false],
  ])('%s', (_, message, given, expected) => {
    expect(isModern(message, given)).toBe(expected);
  });
});

describe('a modern request', () => {
  test.each<[string, JsonObject, McpHeaders | undefined, number | undefined]>([
    ['passes with its headers', call('a'), headers('a'), undefined],
    ['passes without headers where there are none', call('a'), undefined, undefined],
    ['names what is missing in _meta', call('a', {}), headers('a'), -32602],
    [
      'must tell its capabilities',
      call('a', { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }),
      headers('a'),
      -32602,
    ],
    [
      'of another version gets the list',
      call('a', meta('1900-01-01')),
      headers('a', { version: '1900-01-01' }),
      -32022,
    ],
    ['has another version in its header', call('a'), headers('a', { version: '2025-11-25' }), -32020],
    ['has another method in its header', call('a'), headers('a', { method: 'tools/list' }), -32020],
    ['has another name in its header', call('a'), headers('b'), -32020],
    ['has no name in its header', call('a'), headers(undefined), -32020],
    ['has a name in Base64', call('Grüße'), headers('=?base64?R3LDvMOfZQ==?='), undefined],
    ['has a name in broken Base64', call('a'), headers('=?base64?/w==?='), -32020],
  ])('%s', (_, message, given, code) => {
    const read = readModern(message, given);
    expect('code' in read ? read.code : undefined, JSON.stringify(read)).toBe(code);
  });
});
