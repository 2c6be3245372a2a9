import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { LEGACY_ENVELOPE_KEYS, migrateEnvelopeKeys } from './legacy-keys.ts';
import { Notes } from './read-record.ts';
import { RESERVED_METADATA_KEYS } from './reserved-keys.ts';

function migrated(json: JsonObject): { record: JsonObject; notes: Notes } {
  const notes = new Notes();
  const record = new Map(Object.entries(json));
  migrateEnvelopeKeys(record, notes);
  return { record: Object.fromEntries(record), notes };
}

describe('old keys', () => {
  test('a record without any is left alone', () => {
    const json = { request_id: 'r1', params: { a: 1 } };
    expect(migrated(json)).toMatchObject({ record: json, notes: { issues: [], warnings: [] } });
  });

  test('none of them is left afterwards, whatever they held', () => {
    const any = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...LEGACY_ENVELOPE_KEYS, 'params', 'provenance'), any), (json) => {
        const { record } = migrated(JSON.parse(JSON.stringify(json)));
        for (const key of LEGACY_ENVELOPE_KEYS) expect(record).not.toHaveProperty(key);
      }),
    );
  });

  test('each gives one warning that names the replacement', () => {
    const json = Object.fromEntries(LEGACY_ENVELOPE_KEYS.map((key) => [key, null]));
    const { notes } = migrated(json);
    expect(notes.warnings.map(({ pointer }) => pointer)).toEqual(LEGACY_ENVELOPE_KEYS.map((key) => `/${key}`));
    for (const { suggestion } of notes.warnings) expect(suggestion).toMatch(/^send /);
  });

  test('a payload never changes params', () => {
    const part = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue({ maxDepth: 1 }));
    fc.assert(
      fc.property(part, part, (params, payload) => {
        const json = JSON.parse(JSON.stringify({ params, payload }));
        expect(migrated(json).record['params']).toMatchObject(json.params);
      }),
    );
  });

  test('of a payload, empty values are no news; zero, blank and false are', () => {
    const payload = { none: null, list: [], map: {}, zero: 0, blank: '', no: false };
    expect(migrated({ payload }).record).toEqual({ params: { zero: 0, blank: '', no: false } });
  });

  test('no key that only a server sets is taken from metadata', () => {
    const metadata = Object.fromEntries(RESERVED_METADATA_KEYS.map((key) => [key, true]));
    const { record, notes } = migrated({ metadata: { ...metadata, mine: 1 } });
    expect(record['channel_context']).toEqual({ mine: 1 });
    expect(notes.warnings.filter(({ code }) => code === 'reserved_key')).toHaveLength(4);
  });

  test('an unknown binding is a note and no source', () => {
    expect(migrated({ binding: 'hybrid' }).record['provenance']).toEqual({
      source_protocol: 'e2a',
      details: { migrated_from_binding: 'hybrid' },
    });
  });
});
