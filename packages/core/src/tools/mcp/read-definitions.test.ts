import type { JsonObject } from '@dragoman/protocols';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect, test } from 'vitest';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { toolDefinition } from '../tool-definition.ts';
import { readDefinitions } from './read-definitions.ts';

/** Reads what a server has that tells its tools on these pages, and after them the last one without end. */
async function read(...pages: readonly (readonly JsonObject[])[]) {
  const log = new SilentLog();
  let asked = 0;
  const listTools = async () => {
    const tools = pages[Math.min(asked, pages.length - 1)];
    asked += 1;
    return { tools, nextCursor: 'more' };
  };
  const definitions = await readDefinitions({ listTools } as unknown as Client, {
    name: 'big',
    config: {},
    clock: new TestClock(),
    log,
    timeoutMs: 1_000,
    signal: new AbortController().signal,
  });
  const told = Buffer.byteLength(JSON.stringify(definitions.map(toolDefinition)));
  return { names: definitions.map(({ tool }) => tool), told, asked, log };
}

const parameters = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}]));
const tool = (name: string, properties: JsonObject) => ({ name, inputSchema: { type: 'object', properties } });

test.each<[string, JsonObject]>([
  ['long descriptions', { a: { description: 'z'.repeat(240_000) } }],
  ['descriptions of few characters and many bytes', { a: { description: '\u8a9e'.repeat(80_000) } }],
  ['many parameters', parameters(5_000)],
])('a server has only so much room in the list of all tools: %s', async (_, properties) => {
  const { names, told, asked, log } = await read(
    [tool('first', {})],
    Array.from({ length: 40 }, (_, index) => tool(`t${index}`, properties)),
  );
  expect(names.slice(0, 2)).toEqual(['first', 't0']);
  expect(told).toBeLessThan(2.1 * 1024 * 1024);
  expect(asked).toBe(2);
  const fields = { mcp_server: 'big', tool: 't39', error: expect.stringContaining('2 MiB') };
  const lines = log.lines.filter(({ message }) => message === 'a tool is left out');
  expect(lines[0]?.fields).toEqual({ ...fields, tool: `t${names.length - 1}` });
});

test('a tool that would take half of that is left out by itself', async () => {
  const { names } = await read([tool('wide', parameters(15_000)), tool('narrow', {})], []);
  expect(names).toEqual(['narrow']);
});

test('of very many tools the first thousand are taken, and of the rest some are named', async () => {
  const page = Array.from({ length: 600 }, (_, index) => tool(`t${index}`, {}));
  const { names, asked, log } = await read(page);
  expect([names.length, asked]).toEqual([1_000, 2]);
  expect(log.lines).toHaveLength(21);
  expect(log.lines.at(-1)).toMatchObject({ fields: { mcp_server: 'big', count: 180 } });
});

test('pages without any tool that can be called are not read without end', async () => {
  const { names, asked } = await read([tool('no name\n', {})]);
  expect([names, asked]).toEqual([[], 1_000]);
});
