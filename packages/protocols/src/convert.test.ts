import { describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../scripts/conformance.ts';
import { convert } from './convert.ts';
import { DIALECTS } from './dialects.ts';
import { e2aDialect } from './e2a/dialect.ts';

const stamp = { id: '0123456789abcdef0123456789abcdef', now: new Date('2026-03-28T12:00:00.000Z') };

describe('converting a message to another dialect', () => {
  const pairs = DIALECTS.flatMap((from) => DIALECTS.map((to) => [from.name, to.name, { from, to }] as const));

  test.each(pairs)('from %s to %s gives a message that can be read, or issues', (name, _, { from, to }) => {
    const fixtures = [...loadFixtures(name, 'accept'), ...loadFixtures(name, 'reject')];
    for (const { name: fixture, input } of fixtures) {
      for (const lenient of [false, true]) {
        const outcome = convert(input, { from, to, stamp, lenient });
        if (outcome.ok) expect(to.decode(outcome.value.result, stamp.now, { lenient }).ok, fixture).toBe(true);
        else expect(outcome.issues.length, fixture).toBeGreaterThan(0);
      }
    }
  });

  test('any number of fields that have no place is a loss, not an exception', () => {
    // More members than a call can have arguments: spreading them would throw.
    const unknown = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`x${index}`, 1]));
    const input = { request_id: 'r', method: 'm', source_agent_id: 'ada', params: { content: 'c' }, ...unknown };
    for (const to of DIALECTS) expect(() => convert(input, { from: e2aDialect, to, stamp }), to.name).not.toThrow();
  });
});
