import { type E2AEnvelope, type E2AResponse, encodeEnvelope, failure, withoutSecrets } from '@dragoman/protocols';
import type { Call } from '../call.ts';
import type { Handler } from '../handler.ts';
import type { Clock, Ids, Log } from '../ports.ts';
import { failureOf, Refused, refuse } from '../refused.ts';
import type { NonceRow, RequestKey, RequestRow, Store } from '../store/store.ts';
import { deferred } from './deferred.ts';
import { asksTheSame, digestOf } from './digest.ts';
import { FrameMaker } from './frame-maker.ts';
import { frameFrom } from './frame-text.ts';
import { type Patience, patiently } from './patiently.ts';
import { Run } from './run.ts';
import { RunCounts } from './run-counts.ts';
import type { Slot, Slots } from './slots.ts';
import { unlessAborted, untilAborted } from './until-aborted.ts';

/** What a request was accepted with, beyond the envelope. */
export interface Admission {
  readonly agentId: string;
  /** The conversation it belongs to. */
  readonly sessionId: string | null;
  readonly priority: number;
  readonly expiresAt: number | null;
}

/** Every request that is being answered in this process, and the way to those that were. */
export class Runs {
  readonly counts = new RunCounts();
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #log: Log;
  readonly #slots: Slots;
  readonly #live = new Map<string, LiveRun>();
  /** Requests on their way to the disk: they run as soon as they are there. */
  readonly #accepting = new Set<Promise<unknown>>();
  readonly #interrupted = new AbortController();
  readonly #patience: Patience;
  #stopping: 'no' | 'draining' | 'interrupting' = 'no';

  constructor({ store, clock, ids, log, slots }: RunsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#ids = ids;
    this.#log = log;
    this.#slots = slots;
    this.#patience = { clock, signal: this.#interrupted.signal };
  }

  /**
   * Records the request and starts answering it, whoever reads along. A repeat (same id or key, same body) gets the
   * answer already given or under way; the same id with another body is a conflict.
   */
  open(envelope: E2AEnvelope, call: Call, admission: Admission, answer: Handler): AsyncIterable<E2AResponse> {
    return deferred(() => this.#open(envelope, call, admission, answer));
  }

  async #open(
    envelope: E2AEnvelope,
    call: Call,
    admission: Admission,
    answer: Handler,
  ): Promise<AsyncIterable<E2AResponse>> {
    const requestId =
      envelope.request_id ?? refuse('invalid_message', {}, 'A request without an id cannot be recorded.');
    if (this.#stopping !== 'no') refuse('busy', {}, 'The server is stopping.');
    const key: RequestKey = { owner: call.principal.id, requestId };
    // Taken before it is recorded: what can start at once is recorded as started, with one commit instead of two.
    const slot = this.#slots.tryTake(admission.agentId);
    const recorded = withoutSecrets(envelope);
    const encoded = encodeEnvelope(recorded);
    const row: RequestRow = {
      ...key,
      ...admission,
      digest: digestOf(encoded),
      idempotencyKey: call.idempotencyKey ?? null,
      envelope: JSON.stringify(encoded),
      state: slot === undefined ? 'accepted' : 'started',
      acceptedAt: this.#clock.now().getTime(),
    };
    const accepted = await this.#accept(row, call.nonce, slot);
    if ('reused' in accepted) {
      slot?.release();
      refuse('nonce_reused');
    }
    if (!accepted.repeat) call.onAccepted?.(row);
    if (accepted.repeat) {
      slot?.release();
      const isSame = accepted.row.digest === row.digest || asksTheSame(accepted.row.envelope, recorded);
      if (!isSame) refuse('conflict', { request_id: accepted.row.requestId });
      call.onAccepted?.(accepted.row);
      return this.read(accepted.row, call.after ?? -1);
    }
    this.counts.accepted++;
    return this.#begin(row, envelope, call, answer, slot).run.read(call.after ?? -1);
  }

  /** The frames of a request after a sequence, to the final one; follows it while it is being answered. */
  async *read(key: RequestKey, after: number): AsyncGenerator<E2AResponse> {
    let next = after;
    for (;;) {
      const live = this.#live.get(keyText(key));
      if (live !== undefined) {
        yield* live.run.read(next);
        return;
      }
      const rows = await this.#store.requests.frames(key, { after: next, limit: 500, maxBytes: 256 * 1024 });
      for (const row of rows) {
        yield frameFrom(row.text);
        if (row.isFinal) return;
        next = row.sequence;
      }
      if (rows.length === 0) return;
    }
  }

  /** Ends a running request with `E2A.CANCELLED`. False when it is not running here. */
  cancel(key: RequestKey, reason = 'The request was cancelled by its caller.'): boolean {
    const live = this.#live.get(keyText(key));
    if (live === undefined || live.run.answered) return false;
    live.controller.abort(new Refused(failure('cancelled', {}, reason)));
    return true;
  }

  /** Holds a running answer where it is: nothing more is taken from the agent until `resume`. */
  pause(key: RequestKey): void {
    const live = this.#live.get(keyText(key));
    if (live !== undefined) live.held ??= holding();
  }

  resume(key: RequestKey): void {
    const live = this.#live.get(keyText(key));
    live?.held?.release();
    if (live !== undefined) live.held = undefined;
  }

  /** The running requests of an owner, newest last. */
  running(owner: string): RequestRow[] {
    return [...this.#live.values()].map((live) => live.row).filter((row) => row.owner === owner);
  }

  /** How many requests an agent works on now, and how many wait until one can. */
  get load(): { running: number; waiting: number } {
    const { waiting } = this.#slots;
    return { running: this.#live.size - waiting, waiting };
  }

  /**
   * Deals with what an earlier process left: what was accepted but never started runs now; what was started and cannot
   * continue ends with `E2A.INTERRUPTED`. Doing it twice changes nothing.
   */
  async recover(
    callFor: (row: RequestRow) => Call | undefined,
    envelopeOf: (row: RequestRow) => E2AEnvelope,
    answer: Handler,
  ): Promise<void> {
    for (const row of await this.#store.requests.unfinished()) {
      const envelope = envelopeOf(row);
      const call = callFor(row);
      if (row.state === 'accepted' && call !== undefined) {
        this.#begin(row, envelope, call, answer, undefined);
        continue;
      }
      const from = await this.#framesOf(row);
      const run = new Run({ key: row, store: this.#store.requests, counts: this.counts, from });
      await run.give(this.#maker(envelope, from).error(failure('interrupted')));
    }
  }

  /** Waits until nothing runs, or ends what still does when the signal aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#stopping = 'draining';
    const interrupt = () => {
      this.#stopping = 'interrupting';
      this.#interrupted.abort();
      for (const live of this.#live.values()) live.controller.abort(new Refused(failure('interrupted')));
    };
    signal.addEventListener('abort', interrupt, { once: true });
    if (signal.aborted) interrupt();
    while (this.#live.size + this.#accepting.size > 0) {
      await Promise.allSettled([...this.#accepting, ...[...this.#live.values()].map((live) => live.done)]);
    }
    signal.removeEventListener('abort', interrupt);
  }

  async #accept(row: RequestRow, nonce: NonceRow | undefined, slot: Slot | undefined) {
    const accepting = this.#store.requests.accept(row, nonce);
    this.#accepting.add(accepting);
    try {
      return await accepting;
    } catch (error) {
      slot?.release();
      throw error;
    } finally {
      this.#accepting.delete(accepting);
    }
  }

  #begin(row: RequestRow, envelope: E2AEnvelope, call: Call, answer: Handler, slot: Slot | undefined): LiveRun {
    const run = new Run({ key: row, store: this.#store.requests, counts: this.counts, patience: this.#patience });
    const controller = new AbortController();
    const live: LiveRun = { row, run, controller, done: Promise.resolve(), held: undefined, over: [] };
    this.#live.set(keyText(row), live);
    // The work is not the reader's: it goes on when the reader that started it goes away.
    const running = {
      end: (reason: Error) => controller.abort(reason),
      onOver: (callback: () => void) => live.over.push(callback),
    };
    const own: Call = { ...call, signal: controller.signal, running };
    live.done = this.#work(live, envelope, own, answer, slot).catch((error) => {
      this.#log.error({ request_id: row.requestId, error: String(error) }, 'a request could not be answered');
    });
    if (this.#stopping === 'interrupting') controller.abort(new Refused(failure('interrupted')));
    return live;
  }

  async #work(
    live: LiveRun,
    envelope: E2AEnvelope,
    call: Call,
    answer: Handler,
    given: Slot | undefined,
  ): Promise<void> {
    const { row, run } = live;
    let slot = given;
    try {
      if (slot === undefined) {
        slot = await this.#slots.take({ ...row, principal: row.owner, signal: call.signal });
        if (row.expiresAt !== null && row.expiresAt <= this.#clock.now().getTime()) refuse('expired');
        await patiently(() => this.#store.requests.start(row), this.#patience);
      }
      for await (const frame of untilAborted(answer(envelope, call), call.signal)) {
        while (live.held !== undefined) await unlessAborted(live.held.released, call.signal);
        await run.give(frame);
      }
      if (!run.answered) refuse('agent_failed', {}, 'The agent ended without an answer.');
    } catch (error) {
      if (run.answered) throw error;
      const known = failureOf(error);
      if (known === undefined) this.#log.error({ request_id: row.requestId, error: String(error) }, 'the agent failed');
      await run.give(this.#maker(envelope, run.next).error(known ?? failure('agent_failed')));
    } finally {
      for (const callback of live.over) callback();
      slot?.release();
      this.#live.delete(keyText(row));
    }
  }

  async #framesOf(key: RequestKey): Promise<number> {
    let after = -1;
    for (;;) {
      const rows = await this.#store.requests.frames(key, { after, limit: 1000, maxBytes: 1 << 20 });
      const last = rows.at(-1);
      if (last === undefined) return after + 1;
      after = last.sequence;
    }
  }

  #maker(envelope: E2AEnvelope, from: number): FrameMaker {
    return new FrameMaker({ envelope, clock: this.#clock, ids: this.#ids, from });
  }
}

interface RunsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly slots: Slots;
}

interface LiveRun {
  readonly row: RequestRow;
  readonly run: Run;
  readonly controller: AbortController;
  done: Promise<void>;
  held: Hold | undefined;
  /** To be told when it is over. */
  readonly over: (() => void)[];
}

/** A door that stays shut until it is released. */
interface Hold {
  readonly released: Promise<void>;
  release(): void;
}

function holding(): Hold {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { released, release };
}

function keyText({ owner, requestId }: RequestKey): string {
  // An agent id has no line break in it.
  return `${owner}\n${requestId}`;
}
