import { type Principal, UnreadBudget, type WireHost, type WireSink } from '@dragoman/core';
import { describe, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import { TestIds } from '../../../core/test-support/test-ids.ts';
import { MessageRates } from '../edges/message-rates.ts';
import type { Answer, InboundRequest } from '../http/route.ts';
import { wireRoutes } from './wire.ts';

const MEBIBYTE = 1024 * 1024;

/** The routes over a host that accepts every peer, unless it is busy, and the messages it sends on each connection. */
function routes() {
  const clock = new TestClock();
  const unread = new UnreadBudget({ maxBytes: 100 * MEBIBYTE, clock, log: new SilentLog() });
  let isBusy = false;
  const connections: { sink: WireSink; lines: number; isClosed: boolean; lost: () => void }[] = [];
  const connect = (sink: WireSink) => {
    if (isBusy) {
      sink.send('x'.repeat(MEBIBYTE));
      return undefined;
    }
    const connection = {
      sink,
      lines: 0,
      isClosed: false,
      receiveLine: () => {
        connection.lines += 1;
      },
      lost: () => {
        connection.isClosed = true;
        sink.close();
      },
    };
    connections.push(connection);
    return connection;
  };
  const [open, send, stream] = wireRoutes({
    host: { connect } as unknown as WireHost,
    learning: { export: async () => [] },
    clock,
    ids: new TestIds(),
    rates: new MessageRates({ clock }),
    unread,
  });
  const asking = (who: string, session = ''): InboundRequest =>
    ({
      headers: { 'x-session-id': session },
      principal: { id: who, kind: 'agent' } as Principal,
      body: new Uint8Array(),
      address: '127.0.0.1',
    }) as unknown as InboundRequest;
  return {
    clock,
    unread,
    setBusy: (value: boolean) => {
      isBusy = value;
    },
    connections,
    open: (who: string) => open?.handle(asking(who)) as unknown as { json: { session_id: string }; code?: string },
    send: (who: string, session: string) => send?.handle(asking(who, session)) as { status?: number; code?: string },
    stream: (who: string, session: string) => stream?.handle(asking(who, session)) as Answer & { code?: string },
  };
}

async function readAll({ stream }: Answer): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += String(chunk);
  return text;
}

describe('the sessions over HTTP', () => {
  test('of one caller are limited to a hundred; those of others, and those read to their end, do not count', async () => {
    const { open, connections, stream } = routes();
    const ids = Array.from({ length: 100 }, () => open('ada').json.session_id);
    expect(open('ada').code).toBe('busy');
    expect(open('bob').json.session_id).toBeDefined();
    connections[0]?.sink.send('last words');
    connections[0]?.lost();
    expect(open('ada').code).toBe('busy');
    expect(await readAll(stream('ada', ids[0] ?? ''))).toContain('last words');
    expect(open('ada').json.session_id).toBeDefined();
    expect(open('ada').code).toBe('busy');
  });

  test('look absent to all callers but their owner', () => {
    const { open, send, stream, connections } = routes();
    const { session_id } = open('ada').json;
    expect([send('bob', session_id).code, stream('bob', session_id).code]).toEqual(['not_found', 'not_found']);
    expect(connections[0]?.lines).toBe(0);
    expect(send('ada', session_id).status).toBe(200);
  });

  test('take nothing more while a mebibyte waits to be read, and are given up when it is 32', () => {
    const { open, send, connections } = routes();
    const { session_id } = open('ada').json;
    const [connection] = connections;
    connection?.sink.send('x'.repeat(MEBIBYTE));
    expect(send('ada', session_id).status).toBe(200);
    connection?.sink.send('x');
    expect(send('ada', session_id).code).toBe('busy');
    expect(connection?.lines).toBe(1);
    connection?.sink.send('x'.repeat(31 * MEBIBYTE - 1));
    expect(connection?.isClosed).toBe(false);
    connection?.sink.send('x');
    expect(connection?.isClosed).toBe(true);
  });

  test('that are refused leave nothing unread behind', () => {
    const { open, setBusy, unread, connections } = routes();
    setBusy(true);
    for (let refused = 0; refused < 200; refused++) expect(open('ada').code).toBe('busy');
    setBusy(false);
    open('bob');
    open('eve');
    for (const { sink } of connections) sink.send('x');
    expect(unread.drops).toBe(0);
  });

  test('that have ended are kept for half a minute, for their last words', () => {
    const { open, stream, connections, clock } = routes();
    const { session_id } = open('ada').json;
    connections[0]?.sink.send('last words');
    connections[0]?.lost();
    clock.pass(29_999);
    expect(stream('ada', session_id).status).toBe(200);
    clock.pass(1);
    expect(stream('ada', session_id).code).toBe('not_found');
  });
});
