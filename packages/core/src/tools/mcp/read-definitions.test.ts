import type { Json, JsonObject } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { type GivenMcpServer, mcpServer } from '../../../test-support/configured.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { toolDefinition } from '../tool-definition.ts';
import { readDefinitions } from './read-definitions.ts';

/** Reads the tools of a server that lists them on these pages, and then repeats the last one without end. */
async function read(...pages: readonly (readonly Json[])[]) {
  return readWith((pagesRead) => `page ${pagesRead}`, ...pages);
}

async function readWith(cursorAfter: (pagesRead: number) => string, ...pages: readonly (readonly Json[])[]) {
  return readAs({}, cursorAfter, ...pages);
}

async function readAs(
  config: GivenMcpServer,
  cursorAfter: (pagesRead: number) => string,
  ...pages: readonly (readonly Json[])[]
) {
  const log = new SilentLog();
  let pagesRead = 0;
  const listTools = async () => {
    const tools = [...(pages[Math.min(pagesRead, pages.length - 1)] ?? [])];
    pagesRead += 1;
    return { tools, nextCursor: cursorAfter(pagesRead) };
  };
  const definitions = await readDefinitions(
    { listTools },
    {
      name: 'big',
      config: mcpServer(config),
      clock: new TestClock(),
      log,
      timeoutMs: 1_000,
      signal: new AbortController().signal,
    },
  );
  const bytes = Buffer.byteLength(JSON.stringify(definitions.map(toolDefinition)));
  return { names: definitions.map(({ tool }) => tool), bytes, pagesRead, log };
}

const parameters = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}]));
const tool = (name: string, properties: JsonObject) => ({ name, inputSchema: { type: 'object', properties } });

test.each<[string, JsonObject]>([
  ['long descriptions', { a: { description: 'z'.repeat(240_000) } }],
  ['descriptions of few characters and many bytes', { a: { description: '\u8a9e'.repeat(80_000) } }],
  ['many parameters', parameters(5_000)],
])('a server has only so much room in the list of all tools: %s', async (_, properties) => {
  const { names, bytes, pagesRead, log } = await read(
    [tool('first', {})],
    Array.from({ length: 40 }, (_, index) => tool(`t${index}`, properties)),
  );
  expect(names.slice(0, 2)).toEqual(['first', 't0']);
  expect(bytes).toBeLessThan(2.1 * 1024 * 1024);
  expect(pagesRead).toBe(2);
  const fields = { mcp_server: 'big', tool: 't39', error: expect.stringContaining('2 MiB') };
  const lines = log.lines.filter(({ message }) => message === 'a tool is left out');
  expect(lines[0]?.fields).toEqual({ ...fields, tool: `t${names.length - 1}` });
});

test('a tool that would take half of that is left out by itself', async () => {
  const { names } = await read([tool('wide', parameters(15_000)), tool('narrow', {})], []);
  expect(names).toEqual(['narrow']);
});

test('of very many tools the first thousand are taken, and of the rest some are named', async () => {
  const page = (from: number) => Array.from({ length: 600 }, (_, index) => tool(`t${from + index}`, {}));
  const { names, pagesRead, log } = await read(page(0), page(600));
  expect([names.length, pagesRead]).toEqual([1_000, 2]);
  expect(log.lines).toHaveLength(21);
  expect(log.lines.at(-1)).toMatchObject({ fields: { mcp_server: 'big', count: 180 } });
});

test('pages without any tool that can be called are not read without end', async () => {
  const { names, pagesRead } = await read([tool('no name\n', {})]);
  expect([names, pagesRead]).toEqual([[], 1_000]);
});

const ODD: readonly Json[] = [
  '',
  null,
  7,
  {},
  { name: 7 },
  { name: 'without' },
  { name: 'listed', inputSchema: [] },
  { name: 'list', inputSchema: { type: 'array' } },
];

test.each(ODD)('a tool that MCP does not allow does not affect the others: %j', async (odd) => {
  const { names, log } = await read([tool('first', {}), odd, tool('last', {})], []);
  expect(names).toEqual(['first', 'last']);
  expect(log.lines.map(({ message }) => message)).toEqual(['a tool is left out']);
});

test('a server that repeats a page is not followed', async () => {
  const pages = ['a', 'b', 'c', 'd'].map((name) => [tool(name, {})]);
  const { names } = await readWith((pagesRead) => (pagesRead % 2 === 0 ? 'even' : 'odd'), ...pages);
  expect(names).toEqual(['a', 'b', 'c']);
});

test('of two tools of one name the first is taken, even where only invisible characters differ', async () => {
  const described = (name: string, description: string) => ({ ...tool(name, {}), description });
  const { names, log } = await read(
    [described('twice', 'a'), described('twice', 'b')],
    [described('tw\u200bice', 'c')],
    [],
  );
  expect(names).toEqual(['twice']);
  expect(log.lines.map(({ fields }) => fields?.['tool'])).toEqual(['twice', 'tw\u200bice']);
});

describe('where the operator names the tools to take', () => {
  const pages = [[tool('read_text_file', {}), { name: 'odd' }], [tool('write_file', {})], []];
  const take = (...tools: string[]) => readAs({ tools }, (pagesRead) => `page ${Math.min(pagesRead, 3)}`, ...pages);

  test('the others are left out without a word', async () => {
    const { names, log } = await take('read_text_file');
    expect(names).toEqual(['read_text_file']);
    expect(log.lines).toEqual([]);
  });

  test('a name that the server does not have is reported once, with the nearest that it has', async () => {
    const { names, log } = await take('read_txt_file', 'write_file', 'sing');
    expect(names).toEqual(['write_file']);
    const message = 'mcp_servers names a tool that the server does not have';
    expect(log.lines).toEqual([
      {
        level: 'warn',
        fields: { mcp_server: 'big', tool: 'read_txt_file', fix: 'did you mean read_text_file?' },
        message,
      },
      { level: 'warn', fields: { mcp_server: 'big', tool: 'sing', fix: 'it has read_text_file, odd' }, message },
    ]);
  });

  test('one that it has and that cannot be used is reported as left out', async () => {
    const { names, log } = await take('odd');
    expect(names).toEqual([]);
    expect(log.lines).toEqual([
      { level: 'warn', fields: { mcp_server: 'big', tool: 'odd' }, message: 'a tool is left out' },
    ]);
  });
});
