import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@dragoman/protocols';
import { afterAll, describe, expect, test } from 'vitest';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { TestIds } from '../../../test-support/test-ids.ts';
import { loadPlugins } from './load-plugins.ts';
import type { WirePlugin } from './plugin.ts';
import { WireHost } from './wire-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-own-plugins-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

async function pluginWith(members: string): Promise<WirePlugin[]> {
  count += 1;
  const path = join(folder, `${count}.mjs`);
  writeFileSync(
    path,
    `class WireRefused extends Error { name = 'WireRefused'; constructor(code, message, detail) { super(message); Object.assign(this, { code, detail }); } }
    export const weather = { name: 'weather', capability: 'weather', messages: ['weather/get/req'], ${members} };`,
  );
  return loadPlugins(path);
}

function hostWith(plugins: readonly WirePlugin[], log = new SilentLog()): WireHost {
  return new WireHost({
    plugins,
    clock: new TestClock(),
    ids: new TestIds(),
    log,
    authenticate: () => undefined,
    count: () => {},
  });
}

async function answerOf(plugins: readonly WirePlugin[], fields: JsonObject = {}, log = new SilentLog()) {
  const received: JsonObject[] = [];
  const sink = { send: (text: string) => void received.push(JSON.parse(text)), close: () => {} };
  const connection = hostWith(plugins, log).connect(sink, { isLocal: true });
  for (const [type, more] of [
    ['handshake/req', {}],
    ['weather/get/req', fields],
  ] as const) {
    connection?.receiveText(JSON.stringify({ a2e: '1.0', type, id: type, ts: 1, ...more }));
  }
  await expect.poll(() => received.length).toBe(2);
  return received.at(-1);
}

describe('an error that a plugin of the operator throws', () => {
  test.each(['', 'async '])(
    'is tool_error with its message and its own code, where handle is %sa function',
    async (kind) => {
      const log = new SilentLog();
      const plugins = await pluginWith(
        `handle: ${kind}() => { throw Object.assign(new Error('no such city'), { code: 'no_city' }); }`,
      );
      expect(await answerOf(plugins, {}, log)).toMatchObject({
        type: 'error',
        code: 'tool_error',
        message: 'no such city',
        detail: { tool_code: 'no_city' },
      });
      expect(log.lines).toMatchObject([{ level: 'error', fields: { plugin: 'weather', error: 'no such city' } }]);
    },
  );

  test('has the code of its capability where it is a WireRefused, of whichever copy of the package', async () => {
    const plugins = await pluginWith(
      `handle: () => { throw new WireRefused('weather_closed', 'It is night.', { opens: 6 }); }`,
    );
    expect(await answerOf(plugins)).toMatchObject({
      type: 'error',
      code: 'weather_closed',
      message: 'It is night.',
      detail: { opens: 6 },
      retryable: false,
    });
  });
});

describe('a plugin that declares schemas', () => {
  const SCHEMAS = `schemas: {
    'weather/get/req': { type: 'object', required: ['city'], properties: { city: { type: 'string' } } },
    'weather/get/resp': { type: 'object', required: ['sky'], properties: { sky: { type: 'string' } } } }`;

  test('receives no message that does not fit its schema', async () => {
    const plugins = await pluginWith(`${SCHEMAS}, handle: () => ({ sky: 'blue' })`);
    expect(await answerOf(plugins, { city: 'Bern' })).toMatchObject({ type: 'weather/get/resp', sky: 'blue' });
    expect(await answerOf(plugins)).toMatchObject({
      type: 'error',
      code: 'schema_violation',
      message: 'missing required field "city"',
      detail: { issues: [{ pointer: '/city', code: 'required' }] },
    });
  });

  test('answers an error where its answer does not fit', async () => {
    const plugins = await pluginWith(`${SCHEMAS}, handle: async () => ({ sky: 7 })`);
    expect(await answerOf(plugins, { city: 'Bern' })).toMatchObject({ type: 'error', code: 'tool_error' });
  });

  test('has them in the list of types', async () => {
    const [hosted] = hostWith(await pluginWith(`${SCHEMAS}, handle: () => ({})`)).types();
    expect(hosted).toMatchObject({
      type: 'weather/get/req',
      capability: 'weather',
      answer: 'weather/get/resp',
      schema: { required: ['city'] },
      answerSchema: { required: ['sky'] },
    });
  });

  test.each([
    [
      '{ "weather/got/req": {} }',
      'schemas names "weather/got/req", which is neither one of messages nor the answer to one; did you mean "weather/get/req"?',
    ],
    ['[]', 'schemas must be an object of JSON Schemas by type'],
    ["{ 'weather/get/req': { type: 'strng' } }", 'did you mean "string"?'],
  ])('must declare them for its own types, as schemas: %s', async (schemas, problem) => {
    await expect(pluginWith(`schemas: ${schemas}, handle: () => ({})`)).rejects.toThrow(problem);
  });
});

test.each([
  ['Weather/Get', 'a type is one to five words with "/" between them'],
  ['a/b/c/d/e/f', 'a type is one to five words'],
  ['ping', 'the connection itself handles it'],
  ['pong', 'agents do not send it'],
  ['handshake/req', 'the connection itself handles it'],
  ['tool/cancel/req', 'the connection itself handles it'],
  ['tool/call/resp', 'agents do not send it'],
  ['weather/get/resp', 'agents do not send it'],
  ['env/spaces/req', 'it is read as "env/space/req"; name that'],
  ['env/reset/req', 'set capability: "env"'],
])('a plugin whose type %s can never be called keeps the host from starting', async (type, problem) => {
  const plugins = (await pluginWith('handle: () => ({})')).map((plugin) => ({ ...plugin, messages: [type] }));
  expect(() => hostWith(plugins)).toThrow(/plugin weather: the type .* can never be called/);
  expect(() => hostWith(plugins)).toThrow(problem);
});
