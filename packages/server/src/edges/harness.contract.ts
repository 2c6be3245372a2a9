// Helpers for the tests of the edges: a clock, a log, and peers on raw sockets that may misbehave.

import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, type LogFields, NO_PERMISSIONS, type Principal } from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import { onTestFinished } from 'vitest';
import type { Answer, Route } from '../http/route.ts';
import { HttpEdge, type HttpEdgeOptions } from './http.ts';

export const realClock: Clock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  wait: async (milliseconds, signal) => {
    await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
  },
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Keeps the log lines, by level and message. */
class TestLog {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = [];
  debug = (fields: LogFields, message: string) => this.#keep('debug', fields, message);
  info = (fields: LogFields, message: string) => this.#keep('info', fields, message);
  warn = (fields: LogFields, message: string) => this.#keep('warn', fields, message);
  error = (fields: LogFields, message: string) => this.#keep('error', fields, message);

  #keep(level: string, fields: LogFields, message: string): void {
    this.lines.push({ level, message, fields });
  }
}

export const ada: Principal = { id: 'ada', kind: 'agent', permissions: NO_PERMISSIONS, keyId: 'k1' };
export const admin: Principal = { id: 'admin', kind: 'admin', permissions: NO_PERMISSIONS };

/** Each key is the name of its holder. */
export async function authenticate(key: string): Promise<Principal | Failure> {
  return { ada, admin }[key] ?? failure('unauthenticated');
}

/** A route with defaults for everything that a test does not specify. */
export function route(parts: Partial<Route> & Pick<Route, 'path'>): Route {
  return {
    method: 'GET',
    access: 'open',
    summary: 'A route.',
    counts: false,
    handle: (): Answer => ({ status: 200, json: { ok: true } }),
    ...parts,
  };
}

/** A running edge on a free port, closed when the test is over. */
export async function startEdge(options: Partial<HttpEdgeOptions>): Promise<RunningEdge> {
  const log = new TestLog();
  const hex = () => randomUUID().replaceAll('-', '');
  const edge = new HttpEdge({
    routes: [],
    hosts: ['127.0.0.1'],
    clock: realClock,
    ids: { hex, sortable: hex, uuid: randomUUID },
    log,
    authenticate,
    ...options,
    limits: { checkMs: 20, lingerMs: 200, probeMs: 20, abortMs: 100, ...options.limits },
    socketLimits: { closeMs: 200, checkMs: 20, ...options.socketLimits },
  });
  const url = await edge.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => edge.close({ drainMs: 0 }));
  return { edge, log, url, host: new URL(url).host, port: Number(new URL(url).port) };
}

export interface RunningEdge {
  readonly edge: HttpEdge;
  readonly log: TestLog;
  readonly url: string;
  readonly host: string;
  readonly port: number;
}

/** A peer that sends exact bytes, and keeps those it receives. */
export class RawPeer {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #buffer = Buffer.alloc(64 * 1024);
  #size = 0;
  #listeners = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    onTestFinished(() => {
      socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      while (this.#size + chunk.length > this.#buffer.length) {
        this.#buffer = Buffer.concat([this.#buffer], 2 * this.#buffer.length);
      }
      this.#size += chunk.copy(this.#buffer, this.#size);
      for (const listener of this.#listeners) listener();
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        resolve();
        for (const listener of this.#listeners) listener();
      });
    });
  }

  static connect(port: number): Promise<RawPeer> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => resolve(new RawPeer(socket)));
      socket.once('error', reject);
    });
  }

  get text(): string {
    return this.bytes.toString('latin1');
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size);
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** Resolves when the received bytes meet the condition; rejects when the connection closes before that. */
  async receives(condition: string | RegExp | ((received: Buffer) => boolean)): Promise<string> {
    const isMet = () => {
      if (typeof condition === 'string') return this.text.includes(condition);
      return condition instanceof RegExp ? condition.test(this.text) : condition(this.bytes);
    };
    while (!isMet()) {
      if (this.socket.destroyed) throw new Error(`closed before ${condition} arrived: ${this.text}`);
      await new Promise<void>((resolve) => {
        const listener = () => {
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      });
    }
    return this.text;
  }
}

/** Sends bytes on a new connection and returns everything received until the server closes it. */
export async function exchangeRaw(port: number, bytes: string | Uint8Array): Promise<string> {
  const peer = await RawPeer.connect(port);
  peer.send(bytes);
  peer.socket.once('end', () => peer.socket.end());
  await peer.closed;
  return peer.text;
}

export function head(parts: { method?: string; path?: string; host: string; fields?: string[] }): string {
  const { method = 'GET', path = '/', host, fields = [] } = parts;
  return `${[`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...fields].join('\r\n')}\r\n\r\n`;
}

export function upgradeHead(parts: { path?: string; host: string; fields?: string[] }): string {
  const fields = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...(parts.fields ?? []),
  ];
  return head({ ...parts, fields });
}

/** A WebSocket frame of a client, valid or not. */
export function frame(parts: FrameParts): Buffer {
  const { opcode = 1, payload = '', fin = true, reserved = 0, masked = true, claimedLength } = parts;
  const body = Buffer.from(payload);
  const length = claimedLength ?? BigInt(body.length);
  const header = [(fin ? 0x80 : 0) | (reserved << 4) | opcode];
  const flag = masked ? 0x80 : 0;
  if (length < 126n) header.push(flag | Number(length));
  else if (length < 65_536n) header.push(flag | 126, Number(length >> 8n), Number(length & 255n));
  else {
    header.push(flag | 127);
    for (let shift = 56n; shift >= 0n; shift -= 8n) header.push(Number((length >> shift) & 255n));
  }
  const mask = masked ? [1, 2, 3, 4] : [];
  const bytes = masked ? body.map((byte, at) => byte ^ (mask[at % 4] ?? 0)) : body;
  return Buffer.concat([Buffer.from(header), Buffer.from(mask), bytes]);
}

interface FrameParts {
  readonly opcode?: number;
  readonly payload?: string | Uint8Array;
  readonly fin?: boolean;
  readonly reserved?: number;
  readonly masked?: boolean;
  readonly claimedLength?: bigint;
}

/** The frames a server wrote after its 101. */
export function readFrames(received: Buffer): { opcode: number; payload: Buffer }[] {
  const frames: { opcode: number; payload: Buffer }[] = [];
  let at = received.indexOf('\r\n\r\n') + 4;
  while (at + 2 <= received.length) {
    const opcode = (received[at] ?? 0) & 15;
    let length = (received[at + 1] ?? 0) & 127;
    at += 2;
    if (length === 126) {
      length = received.readUInt16BE(at);
      at += 2;
    } else if (length === 127) {
      length = Number(received.readBigUInt64BE(at));
      at += 8;
    }
    if (at + length > received.length) break;
    frames.push({ opcode, payload: received.subarray(at, at + length) });
    at += length;
  }
  return frames;
}

/** The close code the server sent, if it has. */
export function closeCode(received: Buffer): number | undefined {
  const close = readFrames(received).find(({ opcode }) => opcode === 8);
  return close === undefined || close.payload.length < 2 ? undefined : close.payload.readUInt16BE(0);
}
