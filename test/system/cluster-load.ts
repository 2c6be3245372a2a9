import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { allFrames, call } from './call.ts';
import type { ClusterSystem } from './cluster-system.ts';
import { type CountingApi, send } from './counting-api.ts';
import type { System } from './system.ts';
import { workflowOf } from './workflow-caller.ts';

export interface ClusterLoadOptions {
  readonly cluster: ClusterSystem;
  readonly api: CountingApi;
  readonly random: () => number;
  /** Where callbacks go. */
  readonly callbackUrl: string;
}

/** What became of everything that was sent. */
export interface Fates {
  complete: number;
  interrupted: number;
  /** How often a client had to go to another node for the rest of an answer. */
  resumed: number;
  /** How often it had to send the same again. */
  repeated: number;
  callbacks: number;
  /** Workflows that have done both of their steps. */
  orders: number;
  unknownEffects: number;
}

/**
 * Clients of several protocols, each sending one thing after the other to any node. When a node breaks off, a client goes to another one for the
 * rest, until it has the end. Every started request has exactly one end, without a gap, and the same bytes wherever it is read.
 */
export class ClusterLoad {
  readonly fates: Fates = {
    complete: 0,
    interrupted: 0,
    resumed: 0,
    repeated: 0,
    callbacks: 0,
    orders: 0,
    unknownEffects: 0,
  };
  /** How much has come to its end. */
  ended = 0;
  readonly messages: string[] = [];
  readonly #options: ClusterLoadOptions;
  readonly #streams = new Map<string, readonly string[]>();
  #number = 0;
  #isOver = false;

  constructor(options: ClusterLoadOptions) {
    this.#options = options;
  }

  /** Sends until `stop`; rejects with the first thing that is not as it must be. */
  async run(lanes: number): Promise<void> {
    const kinds = [() => this.#stream(), () => this.#workflow(), () => this.#message(), () => this.#completion()];
    const lane = async (number: number) => {
      for (let count = number; !this.#isOver; count += 1) {
        await kinds[count % kinds.length]?.();
        this.ended += 1;
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  }

  stop(): void {
    this.#isOver = true;
  }

  /** What was read is what every node has. */
  async check(): Promise<void> {
    for (const [requestId, frames] of this.#streams) {
      for (const node of this.#options.cluster.nodes) {
        expect(await allFrames(await this.#options.cluster.resume(node, requestId, -1)), requestId).toEqual(frames);
      }
    }
  }

  get #node(): System {
    const { nodes } = this.#options.cluster;
    return nodes[Math.floor(this.#options.random() * nodes.length)] as System;
  }

  #nextId(kind: string): string {
    this.#number += 1;
    return `${kind}-${this.#number}`;
  }

  async #stream(): Promise<void> {
    const { cluster, random } = this.#options;
    const requestId = this.#nextId('stream');
    const words = Array.from({ length: 2 + Math.floor(random() * 20) }, (_, index) => `w${index}`);
    const params = { content: words.join(' '), pause_ms: Math.floor(random() * 40) };
    const envelope = { request_id: requestId, method: 'chat.send', agent_ref: { id: 'load' }, params };
    const frames: string[] = [];
    const isOver = () => JSON.parse(frames.at(-1) ?? '{}').is_final === true;
    for (let tries = 0; !isOver(); tries += 1) {
      if (tries > 0) await pause(50);
      try {
        const isFirst = tries === 0 || frames.length === 0;
        // Whether it was accepted is unknown: the same request again gets the same answer.
        const answer = isFirst
          ? await cluster.stream(this.#node, envelope)
          : await cluster.resume(this.#node, requestId, frames.length - 1);
        if (tries > 0) this.fates[isFirst ? 'repeated' : 'resumed'] += 1;
        if (answer.status !== 200) {
          await answer.text();
          if (answer.status !== 503) throw new Error(`${requestId}: ${answer.status}`);
          continue;
        }
        for await (const frame of answer.frames()) {
          const { sequence, is_final } = JSON.parse(frame);
          // A node that stops ends a stream with what is not a frame of the answer.
          if (sequence === undefined) break;
          expect(sequence, `${requestId} ${frame}`).toBe(frames.length);
          expect(isOver(), `${requestId} has something after its end`).toBe(false);
          frames.push(frame);
          if (is_final) break;
        }
        answer.destroy();
      } catch (error) {
        if (!isBroken(error)) throw error;
      }
    }
    const end = JSON.parse(frames.at(-1) ?? '{}');
    if (end.response_kind === 'e2a.complete') {
      expect(frames.length, requestId).toBe(words.length + 1);
      this.fates.complete += 1;
    } else {
      expect(end.body.code, JSON.stringify(end)).toBe('E2A.INTERRUPTED');
      this.fates.interrupted += 1;
    }
    this.#streams.set(requestId, frames);
  }

  /** POST, Wait, POST: neither is ever done twice. */
  async #workflow(): Promise<void> {
    const { api, random } = this.#options;
    const id = this.#nextId('workflow');
    const order = (step: string) => {
      const path = `/orders/${id}/${step}`;
      // Long enough to be killed in.
      api.behaviours.set(`POST ${path}`, async (_, response) => {
        await pause(40);
        send(response, 200, { id });
      });
      return { ApiCall: { method: 'POST', url: `${api.url}${path}`, body: {}, outputPath: `/workflow/${step}` } };
    };
    const wait = { Wait: { duration: Math.floor(random() * 300) } };
    const workflow = workflowOf({ first: order('first'), wait, second: order('second') }, { id });
    let status = 'running';
    let error: unknown;
    for (let tries = 0; status === 'running'; tries += 1) {
      if (tries > 0) await pause(50);
      const result = await this.#post('/api/v1/workflows/execute', { workflow });
      if (result === undefined) continue;
      status = String(result['status'] ?? 'running');
      error = result['error'];
    }
    const counts = ['first', 'second'].map((step) => api.count(`POST /orders/${id}/${step}`));
    if (status === 'success') {
      expect(counts, id).toEqual([1, 1]);
      this.fates.orders += 1;
    } else {
      // The node was killed while it waited for the answer to a POST: whether that took effect is unknown, and it is not sent again.
      expect(Math.max(...counts), `${id} ${status}`).toBeLessThanOrEqual(1);
      expect(error, id).toMatchObject({ details: { outcome: 'unknown' } });
      this.fates.unknownEffects += 1;
    }
  }

  /** A message with a callback. */
  async #message(): Promise<void> {
    const messageId = this.#nextId('message');
    const from = { name: 'Ada', callbackUrl: this.#options.callbackUrl };
    const json = { messageId, from, message: 'Hello there', metadata: { threadId: `thread-${messageId}` } };
    for (let tries = 0; ; tries += 1) {
      if (tries > 0) await pause(50);
      if ((await this.#post('/a2a', json)) !== undefined) break;
    }
    this.messages.push(messageId);
  }

  async #completion(): Promise<void> {
    const json = { model: 'echo', messages: [{ role: 'user', content: 'hello' }] };
    for (let tries = 0; ; tries += 1) {
      if (tries > 0) await pause(50);
      if ((await this.#post('/v1/chat/completions', json)) !== undefined) return;
    }
  }

  /** `undefined` when no node has answered it for good. */
  async #post(path: string, json: unknown): Promise<Record<string, unknown> | undefined> {
    const { cluster } = this.#options;
    try {
      const answer = await call(this.#node.url, { method: 'POST', path, key: cluster.key, json });
      const text = await answer.text();
      if (answer.status >= 500) return undefined;
      if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${text}`);
      return JSON.parse(text);
    } catch (error) {
      if (isBroken(error)) return undefined;
      throw error;
    }
  }
}

/** A node that was killed, or is not there yet. */
function isBroken(error: unknown): boolean {
  const text = error instanceof Error ? `${(error as NodeJS.ErrnoException).code} ${error.message}` : String(error);
  return /ECONN|EPIPE|socket hang up|aborted|Invalid URL|premature|closed|terminated|503: /i.test(text);
}
