import { getEventListeners, setMaxListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { TestClock } from '../../../test-support/test-clock.ts';
import { watchStreams } from './watch-streams.ts';

const URL = 'http://127.0.0.1/mcp';

/** The SDK asks through it as it would ask a server, which answers as told. */
function watching(answers: (init: RequestInit) => Promise<Response>) {
  const asked: RequestInit[] = [];
  const told: string[] = [];
  const clock = new TestClock();
  const fetch = watchStreams(
    (_, init = {}) => {
      asked.push(init);
      return answers(init);
    },
    { clock, isAwaited: () => true, onOver: (id) => told.push(`over ${id}`), onLost: () => told.push('lost') },
  );
  const call = (id: string, signal: AbortSignal) =>
    fetch(URL, { method: 'POST', body: `{"jsonrpc":"2.0","id":"${id}","method":"tools/call"}`, signal });
  /** For the stream of what the server says by itself. */
  const open = () => fetch(URL, { method: 'GET' });
  const listen = () => {
    const opening = open();
    clock.pass(1_000);
    return opening;
  };
  return { call, open, listen, asked, told, clock };
}

/** A stream of events that ends when it is told to. */
function stream() {
  let end = () => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      end = () => controller.close();
    },
  });
  return { response: new Response(body, { headers: { 'content-type': 'text/event-stream' } }), end };
}

const never = () => new Promise<Response>(() => {});

test('Node does not warn of a leak where many calls are under way, and each ends with the signal of all', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  try {
    const all = new AbortController();
    // Where tests run, another number may hold for all signals.
    setMaxListeners(10, all.signal);
    const { call, asked } = watching(never);
    for (let count = 1; count <= 12; count++) void call(`d${count}`, all.signal);
    expect(warn).not.toHaveBeenCalled();
    all.abort(new Error('enough'));
    expect(asked.map(({ signal }) => String(signal?.reason))).toEqual(Array(12).fill('Error: enough'));
  } finally {
    warn.mockRestore();
  }
});

test('a call that is over listens no more', async () => {
  const { signal } = new AbortController();
  const { response, end } = stream();
  const answers = [Promise.resolve(new Response(null, { status: 500 })), Promise.resolve(response)];
  const { call } = watching(() => answers.shift() ?? never());
  await call('d1', signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  const answer = await call('d2', signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  end();
  await answer.text();
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('a stream of events is lost after five tries in vain, and those before it was there again do not count', async () => {
  const busy = () => Promise.resolve(new Response(null, { status: 429 }));
  const streams = [stream(), stream()];
  const plan = [streams[0], ...Array(4), streams[1], ...Array(5)] as (ReturnType<typeof stream> | undefined)[];
  const { listen, told } = watching(() => {
    const next = plan.shift();
    return next === undefined ? busy() : Promise.resolve(next.response);
  });
  for (const { end } of streams) {
    const events = await listen();
    expect(events.status).toBe(200);
    end();
    await events.text();
    for (let tries = 0; tries < 4; tries++) expect((await listen()).status).toBe(429);
    expect(told).toEqual([]);
  }
  await listen();
  expect(told).toEqual(['lost']);
});

test('a page for people is no stream of events, and is not read', async () => {
  let isLeft = false;
  const cancel = () => {
    isLeft = true;
  };
  const page = new Response(new ReadableStream({ cancel }), { headers: { 'content-type': 'text/html' } });
  const { listen } = watching(() => Promise.resolve(page));
  expect((await listen()).status).toBe(405);
  expect(isLeft).toBe(true);
});

test('a second passes after a try in vain too', async () => {
  const { open, asked, clock } = watching(() => Promise.resolve(new Response(null, { status: 503 })));
  await open();
  const next = open();
  clock.pass(999);
  await Promise.resolve();
  expect(asked).toHaveLength(1);
  clock.pass(1);
  await next;
  expect(asked).toHaveLength(2);
});
