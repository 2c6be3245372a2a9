import { decodeEnvelope, type E2AEnvelope, type Json, newEnvelope } from '@dragoman/protocols';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { envelopeRecord, recordedEnvelope } from './envelope-record.ts';

test('only what an envelope says is recorded', () => {
  const envelope = newEnvelope({ request_id: 'r1', method: 'chat.send', params: { content: 'hello', none: null } });
  expect(JSON.parse(envelopeRecord(envelope))).toEqual({
    request_id: 'r1',
    method: 'chat.send',
    params: { content: 'hello', none: null },
  });
});

test('a record with every field is read as before', () => {
  const envelope = newEnvelope({ request_id: 'r1', is_stream: true });
  const { extras: _, ...fields } = envelope;
  expect(recordedEnvelope(JSON.stringify(fields))).toEqual(envelope);
});

test('any envelope comes out of its record as it went in', () => {
  const text = fc.option(fc.string(), { nil: null });
  const object = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>, {
    maxKeys: 2,
  });
  const member = fc.oneof(text, object, fc.boolean(), fc.constantFrom<Json>([], ['text'], 'user', 'agent', '1.0'));
  const names = fc.constantFrom(...(Object.keys(newEnvelope()) as (keyof E2AEnvelope)[]));
  const provenance = fc.record({
    source_protocol: fc.constantFrom('e2a', 'acp'),
    converter: text,
    converted_at: text,
    details: object,
  });
  let taken = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(names, member), { maxLength: 4 }), fc.option(provenance), (given, origin) => {
      const json = { request_id: 'r1', ...Object.fromEntries(given), ...(origin !== null && { provenance: origin }) };
      const decoded = decodeEnvelope(JSON.parse(JSON.stringify(json)));
      if (!decoded.ok || Object.keys(decoded.value.extras).length > 0) return;
      taken += 1;
      expect(recordedEnvelope(envelopeRecord(decoded.value))).toEqual(decoded.value);
    }),
    { numRuns: 3000 },
  );
  expect(taken).toBeGreaterThan(300);
});
