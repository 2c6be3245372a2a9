import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyEnvelope, anyResponse } from './any-record.contract.ts';
import { E2AEnvelopeShape, newEnvelope } from './envelope.ts';
import { decodeEnvelope } from './read-envelope.ts';
import { decodeResponse } from './read-response.ts';
import { E2AResponseShape, newResponse } from './response.ts';
import { encodeEnvelope, encodeResponse } from './write.ts';

describe('written envelopes', () => {
  test('an envelope has every field, nulls too', () => {
    expect(Object.keys(encodeEnvelope(newEnvelope())).sort()).toEqual([...E2AEnvelopeShape.required].sort());
  });

  test('a response has every field, nulls too', () => {
    expect(Object.keys(encodeResponse(newResponse())).sort()).toEqual([...E2AResponseShape.required].sort());
  });

  test('extras follow the fields and never replace one', () => {
    const written = encodeEnvelope(newEnvelope({ request_id: 'r1', extras: { request_id: 'forged', x_hop: 2 } }));
    expect(written).toMatchObject({ request_id: 'r1', x_hop: 2 });
    expect(written).not.toHaveProperty('extras');
  });

  test('extras under an old or forbidden name are left out: they would be read as something else', () => {
    const extras = JSON.parse('{"payload":{"a":1},"channel_id":"x","response_kind":"e2a.chunk","__proto__":{"b":1}}');
    expect(encodeEnvelope(newEnvelope({ extras }))).toEqual(encodeEnvelope(newEnvelope()));
  });
});

describe('what is written is read back', () => {
  test('every envelope, equal and without a warning', () => {
    fc.assert(
      fc.property(anyEnvelope, (envelope) => {
        const json = JSON.parse(JSON.stringify(encodeEnvelope(envelope)));
        expect(decodeEnvelope(json)).toEqual({ ok: true, value: envelope, warnings: [] });
      }),
      { numRuns: 200 },
    );
  });

  test('every response, equal and without a warning', () => {
    fc.assert(
      fc.property(anyResponse, (response) => {
        const json = JSON.parse(JSON.stringify(encodeResponse(response)));
        expect(decodeResponse(json)).toEqual({ ok: true, value: response, warnings: [] });
      }),
      { numRuns: 200 },
    );
  });
});
