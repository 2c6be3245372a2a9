import type { Json, JsonObject } from '@dragoman/protocols';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { readPromptsPage, readResourceContents, readResourcesPage, toolIn } from './mcp-shapes.ts';

const TOOL: JsonObject = {
  name: 'echo',
  title: 'Echo',
  description: 'Says it back.',
  icons: [{ src: 'data:,', sizes: ['any'], theme: 'dark', more: 1 }],
  inputSchema: { type: 'object', properties: { say: { type: 'string' } }, required: ['say'], $comment: 'kept' },
  outputSchema: { type: 'object' },
  annotations: { title: 'Echo', readOnlyHint: true, more: 1 },
  execution: { taskSupport: 'forbidden', more: 1 },
  _meta: { any: [1] },
  more: 1,
};

/** Tools are pinned by a hash of these members, so that they must not change with the library that reads them. */
test('a tool has the members that the SDK leaves it', () => {
  expect(toolIn(TOOL)).toEqual(ToolSchema.parse(TOOL));
  const least = { name: 'echo', inputSchema: { type: 'object' } };
  expect(toolIn(least)).toEqual(ToolSchema.parse(least));
});

test.each<[string, Json]>([
  ['name', 7],
  ['title', null],
  ['description', null],
  ['icons', [{}]],
  ['inputSchema', { type: 'array' }],
  ['inputSchema', { type: 'object', properties: { a: true } }],
  ['inputSchema', { type: 'object', required: 'a' }],
  ['outputSchema', []],
  ['annotations', { readOnlyHint: 'yes' }],
  ['execution', { taskSupport: 'perhaps' }],
  ['_meta', 7],
])('a tool whose %s is %j is invalid, as for the SDK', (member, value) => {
  const given = { ...TOOL, [member]: value };
  expect([toolIn(given), ToolSchema.safeParse(given).success]).toEqual([undefined, false]);
});

test.each<[(result: JsonObject) => unknown, JsonObject, string]>([
  [readResourcesPage, {}, 'resources'],
  [
    readResourcesPage,
    {
      resources: [
        { uri: 'x:1', name: 'a' },
        { uri: null, name: 'b' },
      ],
    },
    'resources.1.uri',
  ],
  [readResourcesPage, { resources: [{ uri: 'x:1' }] }, 'resources.0.name'],
  [readResourcesPage, { resources: [], nextCursor: 7 }, 'nextCursor'],
  [readResourceContents, { contents: [{ uri: 'x:1' }] }, 'contents.0'],
  [readPromptsPage, { prompts: [{ name: 'a', arguments: [{}] }] }, 'prompts.0.arguments.0.name'],
])('an answer of a shape that MCP does not define is reported by its field', (read, result, field) => {
  expect(() => read(result)).toThrow(`its answer violates MCP; invalid or missing: ${field}`);
});
