import { expect, test } from 'vitest';
import { withDefaults } from './with-defaults.ts';

const shape = {
  type: 'object',
  properties: {
    port: { type: 'integer', default: 7420 },
    wire: { type: 'object', default: {}, properties: { most: { type: 'integer', default: 16 } } },
    admin: { type: 'object', properties: { host: { type: 'string', default: '127.0.0.1' } } },
  },
} as const;

test('members without a value get their defaults, at every depth; given values stay', () => {
  expect(withDefaults(shape, {})).toEqual({ port: 7420, wire: { most: 16 } });
  expect(withDefaults(shape, { port: 0, wire: { most: 1 }, admin: {} })).toEqual({
    ...{ port: 0, wire: { most: 1 }, admin: { host: '127.0.0.1' } },
  });
});
