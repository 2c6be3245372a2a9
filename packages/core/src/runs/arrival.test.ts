import {
  e2aDialect,
  encodeEnvelope,
  isResponse,
  type JsonObject,
  newEnvelope,
  withoutSecrets,
} from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import type { Call } from '../call/call.ts';
import { NO_PERMISSIONS, type Principal } from '../call/principal.ts';
import { arrivalText, readArrival } from './arrival.ts';

const ADA: Principal = {
  id: 'ada',
  kind: 'agent',
  keyId: 'key-1',
  permissions: { ...NO_PERMISSIONS, agents: ['echo', 'clock'], operations: ['*'] },
};

function call(fields: Partial<Call> = {}): Call {
  return { principal: ADA, signal: new AbortController().signal, log: new SilentLog(), ...fields };
}

/** The recorded form of a sent envelope, as it is read back. */
function kept(json: JsonObject, text = JSON.stringify(json)) {
  const read = e2aDialect.decode(json, new Date(0));
  if (!read.ok || isResponse(read.value)) throw new Error('no envelope');
  const envelope = { ...read.value, source_agent_id: 'ada' };
  const written = arrivalText(envelope, call({ beside: { received: { dialect: 'e2a', text, json } } }), 'echo');
  return { written, ...readArrival(written, encodeEnvelope(withoutSecrets(envelope)) as JsonObject) };
}

describe('an envelope', () => {
  test.each<[string, JsonObject]>([
    ['short', { request_id: 'r', method: 'chat.send', params: { content: 'x' } }],
    ['with unknown members', { request_id: 'r', params: {}, colour: { of: ['it'] } }],
    ['in old keys', { request_id: 'r', req_method: 'chat.send', payload: { content: 'x' }, metadata: { a: 1 } }],
    ['that is repaired', { request_id: 'r', params: null, is_stream: null }],
    ['with half a provenance', { request_id: 'r', provenance: { source_protocol: 'acp' } }],
    ['in the name of somebody else', { request_id: 'r', source_agent_id: 'bob', agent_id: null }],
    ['in full', encodeEnvelope(newEnvelope({ request_id: 'r', method: 'chat.send' })) as JsonObject],
  ])('%s is read as it was given', (_, json) => {
    expect(JSON.parse(kept(json).text ?? '')).toEqual(json);
  });

  test('is hardly longer than the names of its members, even with all of them', () => {
    const params = { content: 'x'.repeat(5000) };
    expect(kept({ request_id: 'r', method: 'chat.send', params }).written.length).toBeLessThan(100);
    const full = encodeEnvelope(newEnvelope({ request_id: 'r', params })) as JsonObject;
    expect(kept(full).written.length).toBeLessThan(120);
  });

  test('is kept without the secrets of auth', () => {
    const auth = { bearer_token: 'SECRET', extra_headers: { a: 'SECRET' }, credential_ref: 'c' };
    const { written, text } = kept({ request_id: 'r', auth });
    expect(written).not.toContain('SECRET');
    expect(JSON.parse(text ?? '').auth).toEqual({
      bearer_token: '[redacted]',
      extra_headers: '[redacted]',
      credential_ref: 'c',
    });
  });

  test.each([
    ['that is repaired', 'channel_context', { params: null }],
    ['in old keys', 'metadata', { channel_id: 'web' }],
  ])("%s is kept without the secrets of an editor's MCP servers", (_, name, members) => {
    const server = { name: 'files', command: 'node', env: [{ name: 'KEY', value: 'SECRET' }] };
    const { written, text } = kept({ request_id: 'r', ...members, [name]: { mcp_servers: [server], other: 1 } });
    expect(written).not.toContain('SECRET');
    expect(JSON.parse(text ?? '')[name]).toEqual({
      mcp_servers: [{ ...server, env: [{ name: 'KEY', value: '[redacted]' }] }],
      other: 1,
    });
  });
});

test('a message that is not an envelope is kept byte by byte', () => {
  const text = '{\n  "from": "Ada",\n "message": "é"\n}';
  const written = arrivalText(newEnvelope(), call({ beside: { received: { dialect: 'a2a-mailbox', text } } }), 'echo');
  expect(readArrival(written, {})).toMatchObject({ dialect: 'a2a-mailbox', size: text.length, text });
  const bytes = new TextEncoder().encode(text);
  const same = arrivalText(
    newEnvelope(),
    call({ beside: { received: { dialect: 'a2a-mailbox', text: bytes } } }),
    'echo',
  );
  expect(readArrival(same, {}).text).toBe(text);
});

test('of a large input only the size is kept, and nothing when the endpoint recorded nothing', () => {
  const text = `"${'x'.repeat(70_000)}"`;
  const written = arrivalText(newEnvelope(), call({ beside: { received: { dialect: 'a2a-messages', text } } }), 'echo');
  expect(readArrival(written, {})).toEqual({
    keyId: 'key-1',
    isSigned: false,
    rules: ['agents:echo'],
    dialect: 'a2a-messages',
    size: 70_002,
    text: null,
  });
  expect(readArrival(arrivalText(newEnvelope(), call(), 'echo'), {})).toMatchObject({ dialect: null, text: null });
});

test('the rules are the permissions that allowed the request', () => {
  const rules = (principal: Principal, fields = {}) =>
    readArrival(arrivalText(newEnvelope(fields), call({ principal }), 'echo'), {}).rules;
  expect(rules(ADA)).toEqual(['agents:echo']);
  expect(rules({ ...ADA, permissions: { ...NO_PERMISSIONS, agents: ['*', 'echo'] } })).toEqual(['agents:*']);
  expect(rules(ADA, { identity_origin: 'system' })).toEqual(['agents:echo', 'operations:*']);
  const { keyId: _, ...signer } = ADA;
  expect(readArrival(arrivalText(newEnvelope(), call({ principal: signer }), 'echo'), {}).keyId).toBeNull();
});
