import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import type { System } from './system.ts';

/** A transport's answer: a message, or a problem where no sender can be named. */
export type Answer = JsonObject;

/** Sends one message over a new connection and returns its answer; undefined when the endpoint closes without one. */
export type Transport = (system: System, text: string, key?: string) => Promise<Answer | undefined>;

/** The transports of A2A messages. Plain lines have no place for a key. */
export const TRANSPORTS: Readonly<Record<TransportName, Transport>> = {
  async http({ url }, text, key) {
    const headers = { 'content-type': 'application/json' };
    const answer = await call(url, {
      method: 'POST',
      path: '/a2a/messages',
      text,
      headers,
      ...(key !== undefined && { key }),
    });
    const body = await answer.text();
    return body === '' ? undefined : JSON.parse(body);
  },

  async websocket({ url }, text, key) {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const socket = new WebSocket(`${url.replace('http', 'ws')}/a2a/messages/ws`, { headers });
    await once(socket, 'open');
    const closed = once(socket, 'close').then(() => undefined);
    const message = once(socket, 'message').then(([data]) => JSON.parse(data.toString()) as Answer);
    socket.send(text);
    const received = await Promise.race([message, closed]);
    socket.terminate();
    return received;
  },

  async tcp({ messagesUrl }, text) {
    const { hostname, port } = new URL(messagesUrl);
    const socket = connect(Number(port), hostname);
    const lines = createInterface({ input: socket });
    const closed = once(socket, 'close').then(() => undefined);
    const message = once(lines, 'line').then(([line]) => JSON.parse(line) as Answer);
    socket.write(`${text}\n`);
    const received = await Promise.race([message, closed]);
    socket.destroy();
    return received;
  },
};

export type TransportName = 'http' | 'websocket' | 'tcp';

/** A message in one word: its type, its error code, or the code of the problem. */
export function wordOf(message: Answer | undefined): string {
  if (message === undefined) return 'nothing';
  if (typeof message['code'] === 'string') return message['code'];
  const { error } = message['payload'] as { error?: { code: string } };
  return error === undefined ? String(message['message_type']) : error.code;
}
