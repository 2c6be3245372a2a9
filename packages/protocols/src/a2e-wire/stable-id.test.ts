import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newResponse } from '../e2a/response.ts';
import { stableId } from './stable-id.ts';

test('a UUID is kept, without its dashes', () => {
  const response = newResponse({ response_id: '4F1D6A52-9d4e-4c5b-8a6f-2b7c3d1e0f9a' });
  expect(stableId(response)).toBe('4f1d6a529d4e4c5b8a6f2b7c3d1e0f9a');
});

test('the same frame has the same id, another frame another', () => {
  const frame = fc.record({ response_id: fc.option(fc.string()), request_id: fc.string(), sequence: fc.nat(9) });
  fc.assert(
    fc.property(frame, (given) => {
      const id = stableId(newResponse(given));
      expect(id).toMatch(/^[0-9a-f]{32}$/);
      expect(stableId(newResponse({ ...given, timestamp: '2026-03-28T12:00:30.000Z' }))).toBe(id);
      expect(stableId(newResponse({ ...given, sequence: given.sequence + 1 }))).not.toBe(id);
    }),
  );
});
