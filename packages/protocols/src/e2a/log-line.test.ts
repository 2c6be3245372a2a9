import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyEnvelope, anyResponse } from './any-record.contract.ts';
import { newAuth, newEnvelope } from './envelope.ts';
import { logLine } from './log-line.ts';
import { newResponse } from './response.ts';

describe('a line of log', () => {
  test('a response has the six keys readers sort and replay by, also when they are null', () => {
    expect(Object.keys(JSON.parse(logLine(newResponse()))).slice(0, 6)).toEqual([
      'request_id',
      'response_id',
      'sequence',
      'is_final',
      'response_kind',
      'timestamp',
    ]);
  });

  test('a request names the sender, the method and the recipient, without empty members', () => {
    const envelope = newEnvelope({ request_id: 'r1', method: 'chat.send', channel: 'web', params: { content: 'hi' } });
    expect(JSON.parse(logLine(envelope))).toEqual({
      request_id: 'r1',
      timestamp: null,
      method: 'chat.send',
      channel: 'web',
      identity_origin: 'user',
      source_protocol: 'e2a',
      is_stream: false,
      params: { content: 'hi' },
    });
  });

  test('secrets are marked', () => {
    const auth = newAuth({ bearer_token: 'tok-1', credential_ref: 'vault:b' });
    const line = logLine(newEnvelope({ auth, params: { api_key: 'k-1' }, channel_context: { password: 'p-1' } }));
    for (const secret of ['tok-1', 'k-1', 'p-1']) expect(line).not.toContain(secret);
    expect(line).toContain('vault:b');
  });

  test('a large body is summed up by its size and the names of its members', () => {
    const body = { result: 'x'.repeat(5000), usage: {} };
    expect(JSON.parse(logLine(newResponse({ body })))['body']).toEqual({
      omitted_bytes: 5024,
      members: ['result', 'usage'],
    });
    expect(JSON.parse(logLine(newResponse({ body }), { largestPart: 6000 }))['body']).toEqual(body);
  });

  test('the summary is bounded too', () => {
    const body = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${index}${'k'.repeat(300)}`, index]));
    const line = logLine(newResponse({ body }));
    expect(line.length).toBeLessThan(2000);
    expect(JSON.parse(line)['body']).toMatchObject({ more_members: 484 });
  });

  test('no text ends the line or starts an escape sequence', () => {
    const hostile = 'a\r\nb\u001b[31m\u009b31m\u2028\u2029\u202ec\u007f';
    const line = logLine(newEnvelope({ request_id: hostile, params: { [hostile]: hostile } }));
    expect(line).not.toMatch(/[^\x20-\x7e]/);
    expect(JSON.parse(line)['request_id']).toBe(hostile);
  });

  test('an id of megabytes does not fill the log', () => {
    expect(logLine(newEnvelope({ request_id: 'r'.repeat(1_000_000) })).length).toBeLessThan(4096);
  });

  test('any record is one line of JSON', () => {
    fc.assert(
      fc.property(fc.oneof(anyEnvelope, anyResponse), (record) => {
        const line = logLine(record);
        expect(line).not.toMatch(/[\n\r\u2028\u2029]/);
        expect(JSON.parse(line)).toHaveProperty('request_id', record.request_id);
      }),
    );
  });
});
