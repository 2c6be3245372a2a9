import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '../../../packages/protocols/src/json.ts';
import { type CallOptions, call } from '../call.ts';
import type { ClusterSystem } from '../cluster-system.ts';
import { type CountingApi, send } from '../counting-api.ts';
import type { Receiver } from '../receiver.ts';
import type { System } from '../system.ts';

export interface LoadOptions {
  readonly cluster: ClusterSystem;
  readonly api: CountingApi;
  /** Receives the callbacks. */
  readonly receiver: Receiver;
  readonly random: () => number;
}

/** What became of everything that one client sent. */
export interface Fates {
  /** Ended with its whole answer. */
  complete: number;
  /** Ended because a node was killed, and reported so. */
  interrupted: number;
  /** How often the client had to turn to another node. */
  retried: number;
}

/** One client of the load. */
export interface LoadClient {
  /** Sends one thing. Resolves when that has ended as it must; rejects otherwise. */
  send(): Promise<void>;
  /** After the load: ends what is still open, and compares what was seen with what every node has. */
  check?(): Promise<void>;
}

/** What all clients of the load share. */
export class LoadContext {
  readonly options: LoadOptions;
  readonly fates: Record<string, Fates> = {};
  /** The ended requests of the hub, with their frames where the client has read them. */
  readonly ended = new Map<string, readonly string[] | undefined>();
  #number = 0;

  constructor(options: LoadOptions) {
    this.options = options;
  }

  get cluster(): ClusterSystem {
    return this.options.cluster;
  }

  fatesOf(client: string): Fates {
    const fates = { complete: 0, interrupted: 0, retried: 0 };
    this.fates[client] = fates;
    return fates;
  }

  nextId(kind: string): string {
    this.#number += 1;
    return `${kind}-${this.#number}`;
  }

  below(limit: number): number {
    return Math.floor(this.options.random() * limit);
  }

  /** Some words, all different: a gap or a repeat among them shows. */
  words(): string[] {
    return Array.from({ length: 2 + this.below(20) }, (_, index) => `w${index}`);
  }

  /** The URL of something that can be ordered once. The answer takes long enough for a node to be killed meanwhile. */
  orderUrl(path: string): string {
    const { api } = this.options;
    api.behaviours.set(`POST /orders/${path}`, async (_, response) => {
      await pause(40);
      send(response, 200, { ordered: path });
    });
    return `${api.url}/orders/${path}`;
  }

  ordersOf(path: string): number {
    return this.options.api.count(`POST /orders/${path}`);
  }

  /** Turns to one node after the other, until one has an answer. A node that was killed, or that has no database, has none. */
  async untilAnswered<T>(fates: Fates, ask: (node: System, tries: number) => Promise<T | undefined>): Promise<T> {
    const { nodes } = this.cluster;
    for (let tries = 0; ; tries += 1) {
      if (tries > 0) {
        fates.retried += 1;
        await pause(50);
      }
      try {
        const answer = await ask(nodes[this.below(nodes.length)] as System, tries);
        if (answer !== undefined) return answer;
      } catch (error) {
        if (!isBroken(error)) throw error;
      }
    }
  }

  /** The first answer of a node that is not an error of the server. */
  request(fates: Fates, options: CallOptions): Promise<{ readonly status: number; readonly json: JsonObject }> {
    return this.untilAnswered(fates, async ({ url }) => {
      const answer = await call(url, { key: this.cluster.key, ...options });
      const text = await answer.text();
      return answer.status >= 500 ? undefined : { status: answer.status, json: JSON.parse(text) };
    });
  }

  /** The same, of a request that must succeed. */
  async post(fates: Fates, path: string, json: JsonObject, headers: Record<string, string> = {}): Promise<JsonObject> {
    const answer = await this.request(fates, { method: 'POST', path, json, headers });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.json)}`);
    return answer.json;
  }
}

/** A node that was killed, does not listen yet, does not reach the database, or was declared dead. */
function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, message, data } = error as NodeJS.ErrnoException & { readonly data?: unknown };
  return BROKEN.test(`${code} ${message} ${JSON.stringify(data)}`);
}

const BROKEN =
  /ECONN|EPIPE|socket hang up|aborted|Invalid URL|premature|closed|terminated|503: |response: 503|ended before|E2A\.(?:UNAVAILABLE|BUSY|INTERRUPTED)/i;
