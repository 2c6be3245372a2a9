import type { JsonObject } from '@dragoman/protocols';
import type { AskClient } from '../call/ask-client.ts';
import type { RunningCall } from '../call/call.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import type { ClientCallsElsewhere } from './questions-elsewhere.ts';

/**
 * Requests of agents to their caller's client, such as an editor for a file: a frame `acp.output_request` with the
 * method, answered once by `acp.tool_response` of the same caller. Unlike questions they are not for a person; they end
 * with the agent's request.
 */
export class ClientCalls {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #open = new Map<string, OpenCall>();
  #elsewhere: ClientCallsElsewhere | undefined;

  constructor({ clock, ids }: { readonly clock: Clock; readonly ids: Ids }) {
    this.#clock = clock;
    this.#ids = ids;
  }

  async call(running: RunningCall, { method, params, timeoutMs }: Parameters<AskClient>[0]): Promise<JsonObject> {
    if (running.aborted) throw running.reason;
    const mine = [...this.#open.values()].filter((open) => open.running === running);
    if (mine.length >= MOST_OPEN) refuse('busy', {}, `A request may have ${MOST_OPEN} open calls to its client.`);
    const id = `${PREFIX}${this.#ids.hex()}`;
    let abandon = () => {};
    let cancelTimer = () => {};
    try {
      return await new Promise<JsonObject>((resolve, reject) => {
        abandon = () => reject(running.reason);
        running.addEventListener('abort', abandon, { once: true });
        if (timeoutMs !== undefined) {
          const late = () => reject(new Error(`The client did not answer ${method} within ${timeoutMs / 1000} s.`));
          cancelTimer = this.#clock.after(timeoutMs, late);
        }
        this.#open.set(id, { running, answer: resolve });
        running
          .emit({ response_kind: 'acp.output_request', body: { jsonrpc: '2.0', id, method, params } })
          .catch(reject);
      });
    } finally {
      cancelTimer();
      running.removeEventListener('abort', abandon);
      this.#open.delete(id);
    }
  }

  /** Adds the calls of other nodes. */
  join(elsewhere: ClientCallsElsewhere): void {
    this.#elsewhere = elsewhere;
  }

  /**
   * Answers the call with this id by a JSON-RPC response. False where this caller has no open call with this id, on any
   * node.
   */
  async answer(id: string, owner: string, response: JsonObject): Promise<boolean> {
    if (this.answerHere(id, owner, response)) return true;
    return id.startsWith(PREFIX) && (await this.#elsewhere?.answer(id, owner, response)) === true;
  }

  /** Answers a call of this node. False if this caller has no open call with this id here. */
  answerHere(id: string, owner: string, response: JsonObject): boolean {
    const open = this.#open.get(id);
    if (open?.running.row.owner !== owner) return false;
    open.answer(response);
    return true;
  }
}

interface OpenCall {
  readonly running: RunningCall;
  readonly answer: (response: JsonObject) => void;
}

/** The prefix of the ids of calls. */
const PREFIX = 'c_';
const MOST_OPEN = 64;
