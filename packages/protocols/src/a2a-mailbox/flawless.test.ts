import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadFixtures } from '../../../../scripts/conformance.ts';
import { isObject, type JsonObject } from '../json.ts';
import { isFlawless } from './flawless.ts';
import { findingsByRule } from './validate.ts';

const NOW = new Date('2026-03-28T12:00:30.000Z');
const inputs = (['accept', 'reject'] as const)
  .flatMap((kind) => loadFixtures('a2a-mailbox', kind))
  .map((fixture) => fixture.input)
  .filter(isObject);

test('most messages somebody would send need no second look', () => {
  const plain = {
    from: { name: 'Ada' },
    message: { contentType: 'text/plain', content: 'Hello' },
    metadata: { priority: 'low' },
  };
  expect(isFlawless(plain, NOW)).toBe(true);
  expect(isFlawless({ from: 'Ada', message: 'Hello' }, NOW)).toBe(true);
});

test('the fast path never accepts a message that the rules refuse', () => {
  const value = fc.oneof(
    fc.constantFrom('', ' ', 'x', '\n', null, 0, true, 'urgent', '2020-01-01T00:00:00Z'),
    fc.jsonValue(),
  );
  const place = fc.constantFrom('from', 'to', 'message', 'metadata', 'version', 'messageId', 'extra');
  const inner = fc.constantFrom(
    'name',
    'agentId',
    'callbackUrl',
    'contentType',
    'content',
    'priority',
    'expiresAt',
    'threadId',
    '__proto__',
    'constructor',
    'x',
  );
  fc.assert(
    fc.property(fc.constantFrom(...inputs), place, inner, value, fc.boolean(), (input, outer, key, put, deep) => {
      const part = input[outer];
      const changed =
        deep && isObject(part) ? { ...part, ...JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(put)}}`) } : put;
      const message = { ...input, [outer]: changed } as JsonObject;
      for (const candidate of [input, message]) {
        if (isFlawless(candidate, NOW)) expect(findingsByRule(candidate, NOW)).toEqual([]);
      }
    }),
    { numRuns: 3000 },
  );
});
