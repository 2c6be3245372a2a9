import { InFlight } from '../in-flight.ts';
import { lookup, type WireMessage } from './type-map.ts';

/** The classification of an arriving message. */
export type MessageRoute<Waiter = undefined> =
  /** The answer of a call, or its `error`. */
  | { readonly to: 'call'; readonly reqId: string; readonly waiter: Waiter | undefined }
  /** An event of a running call. */
  | { readonly to: 'events'; readonly reqId: string; readonly waiter: Waiter | undefined }
  /** A message that belongs to no call. */
  | { readonly to: 'push'; readonly type: string }
  | { readonly to: 'nobody'; readonly why: 'duplicate' | 'unknown_request' };

/**
 * The unanswered calls of one side, and the code that waits for each answer. An arriving message is assigned to its
 * call by `req_id` (A2E wire, Message Ordering).
 */
export class PendingCalls<Waiter = undefined> {
  readonly #calls = new InFlight<Call<Waiter>>();

  /** Adds a request. It times out at `deadline`, if there is one. */
  expect(id: string, deadline?: Date, waiter?: Waiter): void {
    this.#calls.add(id, { deadline, waiter, seen: undefined });
  }

  get size(): number {
    return this.#calls.size;
  }

  /** The waiting code of this call. */
  waiter(id: string): Waiter | undefined {
    return this.#calls.get(id)?.waiter;
  }

  /** The pending calls with their waiting code, oldest first. */
  entries(): [string, Waiter | undefined][] {
    return this.#calls.entries().map(([id, { waiter }]) => [id, waiter]);
  }

  route(message: WireMessage): MessageRoute<Waiter> {
    const reqId = typeof message['req_id'] === 'string' ? message['req_id'] : '';
    const row = lookup(message.type);
    const isEvent = row?.role === 'event';
    const call = isEvent ? this.#calls.get(reqId) : this.#calls.remove(reqId);
    if (call === undefined) {
      const belongsToACall = reqId !== '' && (row?.role === 'answer' || isEvent);
      return belongsToACall ? { to: 'nobody', why: 'unknown_request' } : { to: 'push', type: message.type };
    }
    const { waiter } = call;
    if (isEvent) return isRepeated(call, message) ? DUPLICATE : { to: 'events', reqId, waiter };
    return { to: 'call', reqId, waiter };
  }

  /** The calls that timed out; they stay pending. */
  due(now: Date): readonly string[] {
    const due = this.#calls.entries().filter(([, { deadline }]) => deadline !== undefined && deadline <= now);
    return due.map(([id]) => id);
  }

  /** Removes and returns the calls that timed out. */
  expire(now: Date): readonly string[] {
    const expired = this.due(now);
    for (const id of expired) this.#calls.remove(id);
    return expired;
  }

  /** Removes a call and returns its waiting code. */
  forget(id: string): Waiter | undefined {
    return this.#calls.remove(id)?.waiter;
  }

  /** Call this when the connection is closed. Removes and returns all calls: none will be answered. */
  abandon(): readonly string[] {
    const ids = this.#calls.entries().map(([id]) => id);
    this.#calls.clear();
    return ids;
  }
}

interface Call<Waiter> {
  readonly deadline: Date | undefined;
  readonly waiter: Waiter | undefined;
  /** Ids of the latest events; most calls have none. */
  seen: Set<string> | undefined;
}

/**
 * Repeated events are recognized by their id, not by `seq`: some hosts always send 0, and a gap has no
 * meaning.
 */
function isRepeated(call: Call<unknown>, { id }: WireMessage): boolean {
  if (id === undefined) return false;
  call.seen ??= new Set();
  const { seen } = call;
  if (seen.has(id)) return true;
  seen.add(id);
  const [oldest] = seen;
  if (seen.size > REMEMBERED && oldest !== undefined) seen.delete(oldest);
  return false;
}

const DUPLICATE = { to: 'nobody', why: 'duplicate' } as const;
const REMEMBERED = 1024;
