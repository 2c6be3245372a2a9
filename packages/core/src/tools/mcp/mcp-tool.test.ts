import { expect, test } from 'vitest';
import type { McpDefinition } from './mcp-definition.ts';
import { mcpTool, outcomeOf } from './mcp-tool.ts';

const TEXT = { type: 'text', text: 'here' };
const DEFINITION: Omit<McpDefinition, 'input'> = {
  name: 'files__read',
  tool: 'read',
  description: '',
  output: undefined,
  idempotent: false,
  more: {},
  definition: '{}',
  hash: '',
};

test('structured content is the data, and the text beside it its summary', () => {
  expect(outcomeOf({ content: [TEXT], structuredContent: { a: 1 } })).toEqual({
    success: true,
    data: { a: 1 },
    summary: 'here',
  });
});

test('structured content of null counts as absent', () => {
  expect(outcomeOf({ content: [TEXT], structuredContent: null })).toEqual({ success: true, data: 'here' });
  expect(outcomeOf({ content: [TEXT], structuredContent: null, isError: true })).toMatchObject({
    success: false,
    data: 'here',
    error: 'here',
  });
  expect(() => outcomeOf({ structuredContent: null })).toThrow('without any content');
});

test('a result that is not only text is returned part by part', () => {
  const parts = [TEXT, { type: 'image', data: 'aGk=', mimeType: 'image/png' }];
  expect(outcomeOf({ content: parts })).toEqual({ success: true, data: parts });
});

test('arguments that are too much to be checked are refused, and others are checked as before', () => {
  const input = { type: 'object', properties: { at: { type: 'string', pattern: '[a-z.]{1,64}@x' } } };
  const { issuesOf } = mcpTool('files', { ...DEFINITION, input }, async () => ({ content: [TEXT] }));
  expect(() => issuesOf({ at: `${'a'.repeat(100_000)}@x` })).toThrow('too complex to check');
  expect(issuesOf({ at: 1 })).toMatchObject([{ pointer: '/arguments/at', code: 'type' }]);
});
