import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { DriverDefinition } from '../callers/definition.ts';
import { References } from '../vault/references.ts';
import { answering } from './answering.ts';
import { asking, eventually, failureIn, TestContext } from './call.contract.ts';
import { openAgent } from './open-agent.ts';

let context: TestContext;

beforeEach(() => {
  context = new TestContext();
});

describe('a definition', () => {
  test.each<[string, DriverDefinition, string]>([
    ['module without module', { driver: 'module' }, 'agent desk: the module driver needs module; got nothing'],
    ['http without url', { driver: 'http' }, 'agent desk: the http driver needs url; got nothing'],
    ['stdio without command', { driver: 'stdio' }, 'agent desk: the stdio driver needs command; got nothing'],
    [
      'e2a-ws without url where no agent can dial in',
      { driver: 'e2a-ws' },
      'agent desk: the e2a-ws driver requires url here, because agents cannot connect to this process',
    ],
    ['a relative url', { driver: 'http', url: '/e2a' }, 'agent desk: url must be absolute; got "/e2a"'],
    [
      'a url of another scheme',
      { driver: 'e2a-ws', url: 'http://a.example' },
      'agent desk: url must start with ws:// or wss://; got "http://a.example"',
    ],
    ['a file', { driver: 'http', url: 'file:///etc/passwd' }, 'agent desk: url must start with http:// or https://'],
    [
      'a password in the url',
      { driver: 'http', url: 'http://ada:secret@a.example' },
      'agent desk: url must not contain a user name or password',
    ],
  ])('with %s is refused', async (_, definition, message) => {
    const opened = openAgent('desk', definition, { ...context, ...ports(), folder: '/nowhere' });
    await expect(opened).rejects.toThrow(message);
  });
});

test('timeout_ms ends an answer that takes longer, whatever the driver', async () => {
  const module = fileURLToPath(new URL('fixtures/module-agent.mjs', import.meta.url));
  const definition = { driver: 'module', module, timeout_ms: 500 } as const;
  const agent = await openAgent('desk', definition, { ...ports(), folder: '' });
  const frames = answering(agent, ports())(asking('hang'), context.call())[Symbol.asyncIterator]();
  expect((await frames.next()).value).toMatchObject({ body: { delta: 'hold on' } });
  const next = frames.next();
  context.clock.pass(500);
  expect((await next).value).toMatchObject({
    is_final: true,
    body: { code: 'E2A.TIMEOUT', message: 'No answer within 500 ms.' },
  });
});

test('start_timeout_ms ends the wait for an ACP program that does not answer', async () => {
  const program = fileURLToPath(new URL('fixtures/acp-program.mjs', import.meta.url));
  const definition: DriverDefinition = {
    driver: 'acp',
    command: process.execPath,
    args: [program, 'mute'],
    start_timeout_ms: 90_000,
  };
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-open-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const agent = await openAgent('coder', definition, { ...ports(), folder });
  onTestFinished(() => agent[Symbol.asyncDispose]());
  const answer = context.ask(agent, 'x');
  await eventually(() => context.clock.waiting).toBeGreaterThan(0);
  context.clock.pass(89_999);
  let isOver = false;
  void answer.finally(() => {
    isOver = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  context.clock.pass(1);
  expect(failureIn(await answer)?.message).toContain('did not answer initialize within 90 s');
});

function ports() {
  const { clock, ids, log, gate } = context;
  return { clock, ids, log, gate };
}

test.each([
  [{ driver: 'http', url: 'https://desk.example/e2a' }, 'headers'],
  [{ driver: 'e2a-ws', url: 'wss://desk.example/e2a' }, 'headers'],
  [{ driver: 'a2a', url: 'https://desk.example', version: '1.0' }, 'headers'],
  [{ driver: 'stdio', command: 'node' }, 'env'],
] as const)(
  'a variable that is not set keeps %o from being opened, with the key of the configuration',
  async (way, member) => {
    const references = new References({ environment: {} });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference is written like this
    const definition = { ...way, [member]: { TOKEN: 'Bearer ${TOKEN}' } } as DriverDefinition;
    const opened = openAgent('desk', definition, { ...ports(), references, folder: '/nowhere' });
    await expect(opened).rejects.toThrow(`agents.desk.${member}.TOKEN: the environment variable TOKEN is not set`);
  },
);
