import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBase64 } from './base64.ts';

test('is what Node makes of the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
    }),
  );
});
