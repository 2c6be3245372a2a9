import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { decodeWire } from './decode.ts';
import type { Namespace } from './message-row.ts';

/** A type, its smallest valid fields, and the fields after decoding. */
export type Least = readonly [type: string, given: JsonObject, fields: JsonObject];

/** Tests that each type of a namespace fills in the listed defaults and checks its fields. */
export function describeNamespace(namespace: Namespace, rows: readonly Least[]): void {
  test('every type of the namespace is listed', () => {
    expect(rows.map(([type]) => type).sort()).toEqual(Object.keys(namespace.types).sort());
  });

  describe.each(rows)('%s', (type, given, fields) => {
    const base = { type, id: 'x', ts: 1 };

    test(`fills in what ${JSON.stringify(given)} leaves out`, () => {
      const outcome = decodeWire({ a2e: '1.0', ...base, ...given }, NOW);
      expect(outcome).toEqual({ ok: true, value: { a2e: '1.0', version: '1.0', ...base, ...fields }, warnings: [] });
    });

    test('checks every field it has', () => {
      for (const field of Object.keys(fields)) {
        if (ANYTHING.has(field) && given[field] === undefined && fields[field] === null) continue;
        const wrong = typeof fields[field] === 'number' ? 'text' : 0.5;
        const outcome = decodeWire({ a2e: '1.0', ...base, ...given, [field]: wrong }, NOW);
        expect(outcome, field).toMatchObject({ ok: false, issues: [{ pointer: `/${field}` }] });
      }
    });
  });
}

const NOW = new Date(0);
/** Fields that may contain any JSON. */
const ANYTHING: ReadonlySet<string> = new Set(['output', 'final_output', 'render', 'reward', 'new_score']);
