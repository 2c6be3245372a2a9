import { InFlight } from '../in-flight.ts';
import { lookup, type WireMessage } from './type-map.ts';

/** Where an arriving message goes. */
export type MessageRoute<Waiter = undefined> =
  /** It ends the call: its answer, or an `error`. */
  | { readonly to: 'call'; readonly reqId: string; readonly waiter: Waiter | undefined }
  /** It tells how the call is going. */
  | { readonly to: 'events'; readonly reqId: string; readonly waiter: Waiter | undefined }
  /** It belongs to no call: a push, by type. */
  | { readonly to: 'push'; readonly type: string }
  | { readonly to: 'nobody'; readonly why: 'duplicate' | 'unknown_request' };

/**
 * The calls one side has made and not been answered yet. Says where each arriving message belongs (A2E wire, Message
 * Ordering: responses reference their request by `req_id`); who waits for it is kept beside it and is the caller's business.
 */
export class PendingCalls<Waiter = undefined> {
  readonly #calls = new InFlight<Call<Waiter>>();

  /** A request goes out. It is given up at `deadline`, when there is one. */
  expect(id: string, deadline?: Date, waiter?: Waiter): void {
    this.#calls.add(id, { deadline, waiter, seen: undefined });
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Who waits for this one. */
  waiter(id: string): Waiter | undefined {
    return this.#calls.get(id)?.waiter;
  }

  /** Those pending now and who waits for them, oldest first. */
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

  /** The calls whose time is up, which are pending still. */
  due(now: Date): readonly string[] {
    const due = this.#calls.entries().filter(([, { deadline }]) => deadline !== undefined && deadline <= now);
    return due.map(([id]) => id);
  }

  /** The calls whose time is up; they are pending no more. */
  expire(now: Date): readonly string[] {
    const expired = this.due(now);
    for (const id of expired) this.#calls.remove(id);
    return expired;
  }

  /** Nobody waits for this one any more; who did until now. */
  forget(id: string): Waiter | undefined {
    return this.#calls.remove(id)?.waiter;
  }

  /** The connection is gone: nothing will be answered any more. */
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
 * An event is the same one again when its id is. Not by `seq`: hosts are about that always send 0, and a gap means
 * nothing.
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
