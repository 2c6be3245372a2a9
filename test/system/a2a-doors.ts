import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import type { System } from './system.ts';

/** What a door says: a message, or a problem where there is none that could be named. */
export type Heard = JsonObject;

/** One message by a connection of its own, and what is said to it; nothing when the door closes without a word. */
export type Door = (system: System, text: string, key?: string) => Promise<Heard | undefined>;

/** The doors of A2A messages. Plain lines have no place for a key. */
export const DOORS: Readonly<Record<DoorName, Door>> = {
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
    const heard = once(socket, 'message').then(([data]) => JSON.parse(data.toString()) as Heard);
    socket.send(text);
    const said = await Promise.race([heard, closed]);
    socket.terminate();
    return said;
  },

  async tcp({ messagesUrl }, text) {
    const { hostname, port } = new URL(messagesUrl);
    const socket = connect(Number(port), hostname);
    const lines = createInterface({ input: socket });
    const closed = once(socket, 'close').then(() => undefined);
    const heard = once(lines, 'line').then(([line]) => JSON.parse(line) as Heard);
    socket.write(`${text}\n`);
    const said = await Promise.race([heard, closed]);
    socket.destroy();
    return said;
  },
};

export type DoorName = 'http' | 'websocket' | 'tcp';

/** What a message comes to, in one word: its type, its error code, or the code of the problem. */
export function wordOf(heard: Heard | undefined): string {
  if (heard === undefined) return 'nothing';
  if (typeof heard['code'] === 'string') return heard['code'];
  const { error } = heard['payload'] as { error?: { code: string } };
  return error === undefined ? String(heard['message_type']) : error.code;
}
