import { expect, test } from 'vitest';
import { outcomeOf } from './mcp-tool.ts';

const TEXT = { type: 'text', text: 'here' };

test('structured content is the data, and the text beside it its summary', () => {
  expect(outcomeOf({ content: [TEXT], structuredContent: { a: 1 } })).toEqual({
    success: true,
    data: { a: 1 },
    summary: 'here',
  });
});

test('structured content that is written as null is none', () => {
  expect(outcomeOf({ content: [TEXT], structuredContent: null })).toEqual({ success: true, data: 'here' });
  expect(outcomeOf({ content: [TEXT], structuredContent: null, isError: true })).toMatchObject({
    success: false,
    data: 'here',
    error: 'here',
  });
  expect(() => outcomeOf({ structuredContent: null })).toThrow('without any content');
});

test('what is not text alone is told part by part', () => {
  const parts = [TEXT, { type: 'image', data: 'aGk=', mimeType: 'image/png' }];
  expect(outcomeOf({ content: parts })).toEqual({ success: true, data: parts });
});
