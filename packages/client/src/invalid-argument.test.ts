import { describe, expect, test } from 'vitest';
import { CallbackReceiver } from './callback-receiver.ts';
import { type Client, createClient } from './client.ts';
import { DragomanError } from './dragoman-error.ts';
import { httpWire } from './wire/http-wire.ts';
import { streamWire } from './wire/stream-wire.ts';
import { webSocketWire } from './wire/web-socket-wire.ts';
import { connectWire, type WireClient } from './wire/wire-client.ts';
import type { LinkHandlers } from './wire/wire-transport.ts';

/** As a program without types calls it. */
type Untyped = Record<string, (...given: unknown[]) => unknown>;

/** A client whose server answers every request with "not found". */
function strayClient(): Client & { readonly sent: string[] } {
  const sent: string[] = [];
  const fetch = async (url: unknown) => {
    sent.push(String(url));
    return Response.json({ code: 'not_found', detail: 'no' }, { status: 404 });
  };
  return Object.assign(createClient({ url: 'http://server', fetch: fetch as typeof globalThis.fetch }), { sent });
}

async function errorOf(act: () => unknown): Promise<unknown> {
  try {
    const given = await act();
    if (typeof given === 'object' && given !== null && Symbol.asyncIterator in given) {
      for await (const _ of given as AsyncIterable<unknown>);
    }
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('whatever is called without what it needs', () => {
  const parts: Readonly<Record<string, (client: Client) => object>> = {
    client: (client) => client,
    mailbox: (client) => client.mailbox,
    workflows: (client) => client.workflows,
    knowledge: (client) => client.knowledge,
    sessions: (client) => client.sessions,
  };
  const calls = Object.entries(parts).flatMap(([name, partOf]) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(partOf(strayClient())))
      .filter((method) => method !== 'constructor')
      .map((method) => [name, method, partOf] as const),
  );
  test.each(calls)('is reported by a DragomanError: %s.%s()', async (_, method, partOf) => {
    const error = await errorOf(() => (partOf(strayClient()) as Untyped)[method]?.());
    expect(error).toBeInstanceOf(DragomanError);
  });

  test.each([
    ['createClient()', () => (createClient as () => unknown)()],
    ['new CallbackReceiver()', () => new (CallbackReceiver as unknown as new () => unknown)()],
    ['connectWire()', () => (connectWire as () => unknown)()],
    ['connectWire({ key })', () => connectWire({ key: 'k' } as never)],
    ['webSocketWire()', () => (webSocketWire as () => unknown)()],
    ['webSocketWire({})', () => webSocketWire({} as never)],
    ['httpWire({})', () => httpWire({} as never)],
    ['streamWire()', () => (streamWire as () => unknown)()],
  ])('and made of nothing, too: %s', async (_, make) => {
    expect(await errorOf(make)).toMatchObject({ name: 'DragomanError', code: 'invalid_argument' });
  });
});

test('no request names undefined', async () => {
  const client = strayClient();
  const untyped = client as unknown as Untyped;
  await errorOf(() => untyped['resume']?.());
  await errorOf(() => untyped['cancel']?.(''));
  await errorOf(() => (client.mailbox as unknown as Untyped)['thread']?.());
  await errorOf(() => (client.workflows as unknown as Untyped)['find']?.());
  expect(client.sent).toEqual([]);
});

test('a text alone is not a mailbox message, and the error shows a valid one', async () => {
  const send = (strayClient().mailbox as unknown as Untyped)['send'];
  expect(await errorOf(() => send?.call(strayClient().mailbox, 'Hi'))).toMatchObject({
    code: 'invalid_argument',
    message: 'a message must be an object with a sender and content; got "Hi"',
    suggestions: [`send({ from: 'MyAgent', message: "Hi" })`],
  });
});

describe('on the wire', () => {
  /** A host that lets everybody in and answers each ping. */
  async function open(): Promise<{ wire: WireClient; sent: Record<string, unknown>[] }> {
    const sent: Record<string, unknown>[] = [];
    const link = ({ onMessage }: LinkHandlers) => ({
      send: (text: string) => {
        const message = JSON.parse(text);
        sent.push(message);
        const answer = { a2e: '1.0', id: 'a', ts: 1, req_id: message.id };
        const type = message.type.replace(/\/req$/, '/resp');
        queueMicrotask(() => onMessage(JSON.stringify({ ...answer, type: type === 'ping' ? 'pong' : type })));
      },
      close: () => {},
    });
    const wire = await connectWire({ transport: { open: async (handlers) => link(handlers) } });
    sent.length = 0;
    return { wire, sent };
  }

  test('a request whose fields all have defaults needs none', async () => {
    const { wire, sent } = await open();
    expect((await wire.request('mcp/server/list/req')).type).toBe('mcp/server/list/resp');
    expect((await wire.request('mcp/server/list' as never)).type).toBe('mcp/server/list');
    expect(sent.map(({ type }) => type)).toEqual(['mcp/server/list/req', 'mcp/server/list']);
  });

  test.each<[string, (wire: Untyped) => unknown, string, string[]]>([
    ['no tool', (wire) => wire['call']?.(), 'tool must be a non-empty string; got nothing', []],
    [
      'a list of arguments',
      (wire) => wire['call']?.('add', [1, 2]),
      'args must be an object, such as { a: 1 }; got an array of 2 items',
      [],
    ],
    [
      'a time in words',
      (wire) => wire['call']?.('add', {}, { timeoutMs: '1s' }),
      'timeoutMs must be a number of milliseconds, 0 or more; got "1s"',
      [],
    ],
    [
      'no time at all',
      (wire) => wire['call']?.('add', {}, { timeoutMs: Number.NaN }),
      'timeoutMs must be a number of milliseconds, 0 or more; got NaN',
      [],
    ],
    [
      'an option of another name',
      (wire) => wire['call']?.('add', {}, { timeout: 1 }),
      'timeout is not an option; expected onEvent, signal, timeoutMs',
      ['did you mean timeoutMs?'],
    ],
    ['no type', (wire) => wire['request']?.(), 'type must be a non-empty string; got nothing', []],
    [
      'a value outside JSON',
      (wire) => wire['call']?.('add', { a: 1n }),
      'the fields of tool/call/req cannot be written as JSON: Do not know how to serialize a BigInt',
      [],
    ],
  ])('is reported at once, and nothing is sent: %s', async (_, act, message, suggestions) => {
    const { wire, sent } = await open();
    const error = await errorOf(() => act(wire as unknown as Untyped));
    expect(error).toBeInstanceOf(DragomanError);
    expect(error).toMatchObject({ code: 'invalid_argument', message, suggestions });
    expect(sent).toEqual([]);
  });
});
