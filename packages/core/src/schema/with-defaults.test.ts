import { expect, test } from 'vitest';
import { withDefaults } from './with-defaults.ts';

const shape = {
  type: 'object',
  properties: {
    port: { type: 'integer', default: 7420 },
    wire: { type: 'object', default: {}, properties: { most: { type: 'integer', default: 16 } } },
    admin: { type: 'object', properties: { host: { type: 'string', default: '127.0.0.1' } } },
    servers: {
      type: 'object',
      default: {},
      additionalProperties: { type: 'object', properties: { args: { type: 'array', default: [] } } },
    },
    tools: {
      type: 'array',
      default: [],
      items: { type: ['string', 'object'], properties: { record: { enum: ['audit', 'journal'], default: 'audit' } } },
    },
  },
} as const;

test('members without a value get their defaults, at every depth; given values stay', () => {
  const none = { port: 7420, wire: { most: 16 }, servers: {}, tools: [] };
  expect(withDefaults(shape, {})).toEqual(none);
  expect(withDefaults(shape, { port: 0, wire: { most: 1 }, admin: {} })).toEqual({
    ...none,
    ...{ port: 0, wire: { most: 1 }, admin: { host: '127.0.0.1' } },
  });
});

test('the values of maps and the items of lists are filled as well', () => {
  const { servers, tools } = withDefaults(shape, { servers: { a: {} }, tools: ['file', {}, { record: 'journal' }] });
  expect(servers).toEqual({ a: { args: [] } });
  expect(tools).toEqual(['file', { record: 'audit' }, { record: 'journal' }]);
});
