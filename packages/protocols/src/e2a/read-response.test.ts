import { describe, expect, test } from 'vitest';
import { decodeResponse, isE2AResponse, looksLikeResponse } from './read-response.ts';
import { RESPONSE_KINDS } from './response.ts';
import { RESPONSE_BODIES } from './response-body.ts';

describe('recognizing a frame', () => {
  test.each([
    ['a frame of version 1.0 with a kind', { protocol_version: '1.0', response_kind: 'e2a.chunk' }, true],
    ['an event', { type: 'event', protocol_version: '1.0', response_kind: 'e2a.chunk' }, false],
    ['a blank kind', { protocol_version: '1.0', response_kind: '  ' }, false],
    ['another version', { protocol_version: '1.1', response_kind: 'e2a.chunk' }, false],
    ['no version', { response_kind: 'e2a.chunk' }, false],
    ['no object', 'e2a.chunk', false],
  ])('on the wire: %s', (_, json, expected) => {
    expect(isE2AResponse(json)).toBe(expected);
  });

  test('a request with a field that only frames have stays a request while it has params', () => {
    expect(looksLikeResponse({ request_id: 'r1', params: {}, sequence: 1 })).toBe(false);
    expect(looksLikeResponse({ request_id: 'r1', sequence: 1 })).toBe(true);
  });

  test('every kind has a body', () => {
    expect(Object.keys(RESPONSE_BODIES)).toEqual([...RESPONSE_KINDS]);
  });
});

describe('answers of before E2A', () => {
  const read = (json: object) => {
    const outcome = decodeResponse(JSON.parse(JSON.stringify(json)));
    if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
    return outcome.value;
  };

  test('an error that is not text becomes JSON', () => {
    const response = read({ request_id: 'r1', channel_id: 'w', ok: false, payload: { error: { code: 5 } } });
    expect(response.body).toMatchObject({ message: '{"code":5}' });
  });

  test('an error without words has some', () => {
    expect(read({ request_id: 'r1', channel_id: 'w', ok: false, payload: null }).body).toEqual({
      code: 'E2A.AGENT_ERROR',
      message: 'Agent error',
      details: {},
    });
  });

  test('keys beyond the old shape are kept', () => {
    const response = read({ request_id: 'r1', channel_id: 'w', ok: true, payload: {}, x_hop: 1 });
    expect(response.extras).toEqual({ x_hop: 1 });
  });

  test('a stash that holds no answer is left out and the body stays', () => {
    const outcome = decodeResponse({
      request_id: 'r1',
      response_kind: 'e2a.complete',
      sequence: 0,
      is_final: true,
      status: 'succeeded',
      body: { result: 1 },
      metadata: { _e2a_wire_legacy_agent_chunk: 'broken' },
    });
    expect(outcome).toMatchObject({
      ok: true,
      value: { body: { result: 1 }, metadata: {} },
      warnings: [{ pointer: '/metadata/_e2a_wire_legacy_agent_chunk', code: 'reserved_key' }],
    });
  });

  test('a stash fills ids the frame lacks and keeps those it has', () => {
    const blob = { request_id: 'old', channel_id: 'web', ok: true, payload: {} };
    const response = read({
      response_kind: 'e2a.error',
      request_id: 'r1',
      body: {},
      metadata: { _e2a_wire_legacy_agent_response: blob },
    });
    expect(response).toMatchObject({ request_id: 'r1', channel: 'web', response_kind: 'e2a.complete' });
  });
});
