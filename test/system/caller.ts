import { expect } from 'vitest';
import { FrameOrder } from '../../packages/protocols/src/e2a/invariants.ts';
import type { E2AResponse } from '../../packages/protocols/src/e2a/response.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { allFrames, type CallOptions, call, type HttpAnswer } from './call.ts';
import { SocketClient } from './socket-client.ts';
import type { System } from './system.ts';

export type Envelope = JsonObject & { readonly request_id: string };

/** A caller with a key, at every endpoint of a running server. */
export class Caller {
  readonly key: string;
  readonly #system: System;

  constructor(system: System, key: string) {
    this.#system = system;
    this.key = key;
  }

  post(json: JsonObject, options: Partial<CallOptions> = {}): Promise<HttpAnswer> {
    return call(this.#system.url, { method: 'POST', path: '/e2a', key: this.key, json, ...options });
  }

  /** A body as it is. */
  postText(text: string, contentType = 'application/json'): Promise<HttpAnswer> {
    const headers = { 'content-type': contentType };
    return call(this.#system.url, { method: 'POST', path: '/e2a', key: this.key, text, headers });
  }

  /** Reads `/e2a/requests/{path}`. */
  get(path: string, accept = 'application/json', headers: Record<string, string> = {}): Promise<HttpAnswer> {
    return call(this.#system.url, { path: `/e2a/requests/${path}`, key: this.key, accept, headers });
  }

  cancel(id: string): Promise<HttpAnswer> {
    return call(this.#system.url, { method: 'POST', path: `/e2a/requests/${id}/cancel`, key: this.key });
  }

  /** Every frame after this sequence, to the final one. */
  async resume(id: string, after = -1): Promise<string[]> {
    return allFrames(await this.get(`${id}/responses?after=${after}`, 'application/x-ndjson'));
  }

  /** Every frame there is so far. */
  async resumeNow(id: string): Promise<unknown[]> {
    // A refusal has none: the request may not be recorded yet.
    const { responses = [] } = (await (await this.get(`${id}/responses`)).json()) as { responses?: unknown[] };
    return responses;
  }

  socket(): Promise<SocketClient> {
    return SocketClient.open(this.#system.url, this.key);
  }

  async overSocket(envelope: Envelope): Promise<string[]> {
    const socket = await this.socket();
    const frames = await socket.ask(envelope);
    socket.close();
    return frames;
  }

  /** The body of the final frame. */
  async rpcBody(method: string, params: JsonObject): Promise<JsonObject> {
    return read((await allFrames(await this.post({ request_id: fresh(), method, params })))[0]).body;
  }

  /** The result in it. */
  async rpc(method: string, params: JsonObject): Promise<unknown> {
    return (await this.rpcBody(method, params))['result'];
  }
}

/** An unused id. */
export function fresh(): string {
  number += 1;
  return `req-${number}`;
}

export function read(text: string | undefined): E2AResponse {
  return JSON.parse(text ?? 'null');
}

/** No gap, no repeat, one final frame, and it is the last (E2A §12.3). */
export function expectOrdered(frames: readonly E2AResponse[], what = ''): void {
  const order = new FrameOrder();
  expect([...frames.flatMap((frame) => order.receive(frame)), ...order.end()], what).toEqual([]);
}

let number = 0;
