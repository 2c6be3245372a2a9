import {
  type E2AEnvelope,
  type E2AResponse,
  type Failure,
  failure,
  InFlight,
  withoutSecrets,
} from '@dragoman/protocols';
import { afterPromises } from '../after-promises.ts';
import { type Call, ExtendedCall } from '../call.ts';
import { arrivalText } from '../explain/arrival.ts';
import type { Handler } from '../handler.ts';
import type { Clock, Ids, Log } from '../ports.ts';
import { allows } from '../principal.ts';
import { failureOf, Refused, refuse } from '../refused.ts';
import { type Patience, patiently } from '../store/patiently.ts';
import type { Accepted, FrameRow, RecordedWith, RequestKey, RequestRow, Store } from '../store/store.ts';
import { unlessAborted } from '../until-aborted.ts';
import { withoutCallerSecrets } from './caller-secrets.ts';
import { envelopeRecord, recordedEnvelope } from './envelope-record.ts';
import { FrameMaker } from './frame-maker.ts';
import { JournalPages, type PageRange } from './journal-pages.ts';
import type { FindRequest, KnownRequest } from './known-request.ts';
import { holding, LiveRun, nameOf } from './live-run.ts';
import { Readers } from './readers.ts';
import { type FrameSource, Reading } from './reading.ts';
import { Run, type RunOptions } from './run.ts';
import { RunCounts } from './run-counts.ts';
import { asksTheSame, conflictWith } from './same-request.ts';
import type { Slot, Slots } from './slots.ts';

/** What a request was accepted with, beyond the envelope. */
export interface Admission {
  readonly agentId: string;
  /** The conversation it belongs to. */
  readonly sessionId: string | null;
  readonly priority: number;
  readonly expiresAt: number | null;
  /** It is to end when nobody reads it any more. */
  readonly endsUnread?: boolean;
}

/** Every request that is being answered in this process, and the way to those that were. */
export class Runs {
  readonly counts = new RunCounts();
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #log: Log;
  readonly #slots: Slots;
  readonly #isIdempotent: (agentId: string) => boolean;
  readonly #whenReachable: (agentId: string) => Promise<void> | undefined;
  readonly #live = new InFlight<LiveRun>();
  /** Requests on their way to the disk: they run as soon as they are there. */
  #accepting = 0;
  /** To be told when there are none of them left. */
  #allAccepted: (() => void)[] = [];
  readonly #interrupted = new AbortController();
  readonly #pages: JournalPages;
  readonly #runParts: Pick<RunOptions, 'store' | 'pages' | 'counts' | 'patience' | 'onFrame'>;
  readonly #patience: Patience;
  #findElsewhere: FindRequest = async () => undefined;
  #stopping: 'no' | 'draining' | 'interrupting' = 'no';

  constructor({
    store,
    clock,
    ids,
    log,
    slots,
    onFrame,
    isIdempotent = () => false,
    whenReachable = () => undefined,
  }: RunsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#ids = ids;
    this.#log = log;
    this.#slots = slots;
    this.#isIdempotent = isIdempotent;
    this.#whenReachable = whenReachable;
    this.#patience = { clock, log, signal: this.#interrupted.signal, what: 'an answer' };
    this.#pages = new JournalPages(store.requests);
    this.#runParts = {
      store: store.requests,
      pages: this.#pages,
      counts: this.counts,
      patience: this.#patience,
      onFrame,
    };
  }

  /**
   * Records the request and starts answering it, whoever reads along. A repeat (same id or key, same body) gets the
   * answer already given or under way; the same id with another body is a conflict.
   */
  open(envelope: E2AEnvelope, call: Call, admission: Admission, answer: Handler): Reading {
    return new Reading({ open: () => this.#open(envelope, call, admission, answer), after: call.after ?? -1 });
  }

  /**
   * For what no agent can be asked any more: a repeat gets the answer already given or under way, if its caller may still ask who
   * gave it. Anything else is refused for the reason given.
   */
  reopen(envelope: E2AEnvelope, call: Call, reason: Refused): Reading {
    return new Reading({ open: () => this.#reopen(envelope, call, reason), after: call.after ?? -1 });
  }

  /**
   * The frames of a request after a sequence, to the final one; follows it while it is being answered. The signal tells when
   * the reader leaves.
   */
  read(key: RequestKey, after: number, signal?: AbortSignal): Reading {
    return new Reading({ open: async () => this.#sourceOf(key, { signal }), after });
  }

  /** A request of an owner, whichever protocol it came by. */
  async find(key: RequestKey): Promise<KnownRequest | undefined> {
    const row = await this.#store.requests.find(key);
    if (row === undefined) return this.#findElsewhere(key);
    return {
      get envelope() {
        return recordedEnvelope(row.envelope);
      },
      acceptedAt: row.acceptedAt,
      isFinished: row.state === 'finished',
      read: (after, signal) => this.read(key, after, signal),
      page: (range) => this.page(key, range),
      cancel: () => this.cancel(key),
    };
  }

  /** Also finds the requests whose frames another part of the server keeps. */
  findElsewhere(find: FindRequest): void {
    this.#findElsewhere = find;
  }

  /** Frames that are recorded after a sequence, as many as fit. */
  page(key: RequestKey, range: PageRange): Promise<FrameRow[]> {
    return this.#pages.read(key, range);
  }

  async #open(envelope: E2AEnvelope, call: Call, admission: Admission, answer: Handler): Promise<FrameSource> {
    const requestId =
      envelope.request_id ?? refuse('invalid_message', {}, 'A request without an id cannot be recorded.');
    if (this.#stopping !== 'no') refuse('busy', {}, 'The server is stopping.');
    const recorded = withoutSecrets(envelope);
    const text = envelopeRecord(recorded);
    const { nonce, letter, idempotencyKey = null } = call.beside ?? {};
    const recordedWith = { nonce, arrival: arrivalText(envelope, call, admission.agentId), letter };
    // Taken before it is recorded: what can start at once is recorded as started, with one commit instead of two. And after
    // everything that can throw: a place that is taken has to be given back.
    const slot = this.#heldFor(admission) === undefined ? this.#slots.tryTake(admission.agentId) : undefined;
    const announced = slot === undefined ? this.#slots.tryWait(admission.agentId, call.principal.id) : undefined;
    const row: RequestRow = {
      owner: call.principal.id,
      requestId,
      agentId: admission.agentId,
      sessionId: admission.sessionId,
      idempotencyKey,
      envelope: text,
      state: slot === undefined ? 'accepted' : 'started',
      acceptedAt: this.#clock.now().getTime(),
      expiresAt: admission.expiresAt,
      priority: admission.priority,
    };
    let early: LiveRun | undefined;
    this.#accepting += 1;
    try {
      if (this.#isExpired(row)) await this.#refuseUnlessKnown(row, failure('expired'));
      else if (slot === undefined && announced === undefined) await this.#refuseUnlessKnown(row, tooMany(row.agentId));
      if (slot !== undefined && this.#mayStartEarly(row, call)) {
        early = this.#begin(row, envelope, call, answer, slot, false);
      }
      const accepted = await (early === undefined
        ? this.#store.requests.accept(row, recordedWith)
        : this.#acceptEarly(early, recordedWith));
      if ('reused' in accepted) refuse('nonce_reused');
      if (!accepted.repeat) {
        this.counts.accepted++;
        call.beside?.onAccepted?.(row, { isRepeat: false });
        early?.run.recorded();
        const live = early ?? this.#begin(row, envelope, call, answer, slot);
        if (admission.endsUnread === true) this.#endUnread(live, call.signal);
        return live.run;
      }
      this.#abandon(early, new Error('the request was there already'));
      slot?.release();
      return this.#repeated(accepted.row, recorded, call);
    } catch (error) {
      this.#abandon(early, error);
      slot?.release();
      throw error;
    } finally {
      announced?.release();
      this.#accepting -= 1;
      if (this.#accepting === 0) for (const told of this.#allAccepted.splice(0)) told();
    }
  }

  async #reopen(envelope: E2AEnvelope, call: Call, reason: Refused): Promise<FrameSource> {
    const { principal, beside: { idempotencyKey = null } = {} } = call;
    const { request_id: requestId } = envelope;
    if (requestId === null) throw reason;
    const earlier = await this.#store.requests.earlier({ owner: principal.id, requestId, idempotencyKey });
    if (earlier === undefined || !allows(principal.permissions.agents, earlier.agentId)) throw reason;
    return this.#repeated(earlier, withoutSecrets(envelope), call);
  }

  #repeated(earlier: RequestRow, recorded: E2AEnvelope, call: Call): FrameSource {
    if (!asksTheSame(earlier.envelope, recorded)) throw new Refused(conflictWith(earlier, recorded));
    call.beside?.onAccepted?.(earlier, { isRepeat: true });
    return this.#sourceOf(earlier, call);
  }

  /** Never after it was accepted: one that is there already gets its answer, however many wait and however late it is. */
  async #refuseUnlessKnown(row: RequestRow, reason: Failure): Promise<void> {
    if ((await this.#store.requests.earlier(row)) === undefined) throw new Refused(reason);
  }

  /** A request with an expiry waits for an agent that is away; any other is told at once. */
  #heldFor({ agentId, expiresAt }: Pick<RequestRow, 'agentId' | 'expiresAt'>): Promise<void> | undefined {
    return expiresAt === null ? undefined : this.#whenReachable(agentId);
  }

  /** A request that waits is answered when it expires, and not when its turn would have come. */
  #endExpired(live: LiveRun): void {
    const { expiresAt } = live.row;
    const left = expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt - this.#clock.now().getTime();
    if (left > LONGEST_TIMER_MS) return;
    const expire = () => {
      if (live.isWaiting) live.end(new Refused(failure('expired')));
    };
    live.onOver(this.#clock.after(Math.max(0, left), expire));
  }

  #isExpired({ expiresAt }: RequestRow): boolean {
    return expiresAt !== null && expiresAt <= this.#clock.now().getTime();
  }

  /**
   * An agent that may be asked the same thing twice starts before its request is on the disk. Whoever asked hears nothing
   * before it is; if we crash in between, they ask again.
   */
  #mayStartEarly(row: RequestRow, { beside }: Call): boolean {
    return beside?.nonce === undefined && this.#isIdempotent(row.agentId) && !this.#live.has(nameOf(row));
  }

  /** What the agent answers without waiting for anything is recorded with the request, in one commit instead of two. */
  async #acceptEarly({ row, run }: LiveRun, beside: RecordedWith): Promise<Accepted> {
    await afterPromises();
    const frames = run.takeAnswer();
    const { requests } = this.#store;
    return frames === undefined ? requests.accept(row, beside) : requests.acceptAnswered(row, frames, beside);
  }

  #abandon(early: LiveRun | undefined, reason: unknown): void {
    if (early === undefined) return;
    early.isAbandoned = true;
    early.run.abandon(reason);
    early.end(new Refused(failure('cancelled')));
    this.#forget(early);
  }

  #forget(live: LiveRun): void {
    if (this.#live.get(live.name) === live) this.#live.remove(live.name);
  }

  /** The first of its readers is who asked. */
  #endUnread(live: LiveRun, signal: AbortSignal): void {
    live.readers = new Readers(() => this.cancel(live.row, 'The request was to end with its last reader, who left.'));
    live.readers.add(signal);
  }

  /** The request as it runs, or as it is recorded. What ends in between is recorded before it stops running. */
  #sourceOf(key: RequestKey, reader: { readonly signal?: AbortSignal | undefined } = {}): FrameSource {
    const live = this.#live.get(nameOf(key));
    // Asked for only where it counts: a signal is made when somebody asks for it.
    if (live?.readers !== undefined && reader.signal !== undefined) live.readers.add(reader.signal);
    if (live !== undefined) return live.run;
    return { after: (sequence) => this.#pages.read(key, { after: sequence, signal: reader.signal }) };
  }

  /** Ends a running request with `E2A.CANCELLED`. False when it is not running here. */
  cancel(key: RequestKey, reason = 'The request was cancelled by its caller.'): boolean {
    return this.end(key, failure('cancelled', {}, reason));
  }

  /** Ends a running request with this failure. False when it is not running here. */
  end(key: RequestKey, reason: Failure): boolean {
    const live = this.#live.get(nameOf(key));
    if (live === undefined || live.run.answered) return false;
    live.end(new Refused(reason));
    return true;
  }

  /** Holds a running answer where it is: nothing more is taken from the agent until `resume`. */
  pause(key: RequestKey): void {
    const live = this.#live.get(nameOf(key));
    if (live !== undefined) live.held ??= holding();
  }

  resume(key: RequestKey): void {
    const live = this.#live.get(nameOf(key));
    live?.held?.release();
    if (live !== undefined) live.held = undefined;
  }

  /** The running requests of an owner, newest last. */
  running(owner: string): RequestRow[] {
    return this.#live
      .values()
      .map((live) => live.row)
      .filter((row) => row.owner === owner);
  }

  /** Resolves when everything that is being asked of an agent now has its answer. */
  async settled(agentId: string): Promise<void> {
    const asked = this.#live.values().filter(({ row }) => row.agentId === agentId);
    await Promise.all(asked.map(({ done }) => done));
  }

  /** How many requests an agent works on now, and how many wait until one can. */
  get load(): { running: number; waiting: number } {
    const { waiting } = this.#slots;
    return { running: this.#live.size - waiting, waiting };
  }

  /**
   * Deals with what an earlier process left: what was accepted but never started runs now; what was started and cannot
   * continue ends with `E2A.INTERRUPTED`, also where the agent may be asked twice: it may be what ended that process. Doing
   * it twice changes nothing. Where the disk is full, the ends are written when there is room, and nobody has to wait for that.
   */
  async recover(callFor: (row: RequestRow) => Call | undefined, answer: Handler): Promise<void> {
    const ends: Promise<void>[] = [];
    for (const row of await this.#store.requests.unfinished()) {
      const envelope = recordedEnvelope(row.envelope);
      const call = callFor(row);
      if (row.state === 'accepted' && call !== undefined) {
        this.#begin(row, envelope, call, answer, undefined);
        continue;
      }
      const from = await this.#framesOf(row);
      ends.push(this.#endInterrupted(row, envelope, from));
    }
    await Promise.race([Promise.all(ends), this.#clock.wait(LONGEST_RECOVERY_MS)]);
  }

  #endInterrupted(row: RequestRow, envelope: E2AEnvelope, from: number): Promise<void> {
    const run = new Run({ key: row, ...this.#runParts, from });
    const live = new LiveRun(row, run);
    this.#live.add(live.name, live);
    live.done = Promise.resolve(run.give(this.#maker(envelope, from).error(failure('interrupted'))))
      .catch((error) => this.#log.warn({ request_id: row.requestId, error: String(error) }, 'a request has no end yet'))
      .finally(() => this.#forget(live));
    return live.done;
  }

  /** Waits until nothing runs. When the signal aborts it ends what still does; what waits for its turn is left to the next start. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#stopping = 'draining';
    const interrupt = () => {
      this.#stopping = 'interrupting';
      this.#interrupted.abort();
      for (const live of this.#live.values()) this.#interrupt(live);
    };
    signal.addEventListener('abort', interrupt, { once: true });
    if (signal.aborted) interrupt();
    while (this.#live.size + this.#accepting > 0) {
      if (this.#accepting > 0) await new Promise<void>((resolve) => this.#allAccepted.push(resolve));
      await Promise.allSettled(this.#live.values().map((live) => live.done));
    }
    signal.removeEventListener('abort', interrupt);
  }

  #begin(
    row: RequestRow,
    envelope: E2AEnvelope,
    call: Call,
    answer: Handler,
    slot: Slot | undefined,
    isRecorded = true,
  ): LiveRun {
    const run = new Run({ key: row, ...this.#runParts, isRecorded });
    const live = new LiveRun(row, run);
    // One that has not been recorded yet gives way to one that has.
    this.#live.remove(live.name);
    this.#live.add(live.name, live);
    // The work is not the reader's: it goes on when the reader that started it goes away.
    const own = new ExtendedCall(call, live);
    live.done = this.#work(live, envelope, own, answer, slot).catch((error) => {
      this.#log.error({ request_id: row.requestId, error: String(error) }, 'a request could not be answered');
    });
    if (this.#stopping === 'interrupting') this.#interrupt(live);
    return live;
  }

  #interrupt(live: LiveRun): void {
    if (live.isWaiting) this.#abandon(live, new Refused(LEFT));
    else live.end(new Refused(failure('interrupted')));
  }

  async #work(
    live: LiveRun,
    envelope: E2AEnvelope,
    call: Call,
    answer: Handler,
    given: Slot | undefined,
  ): Promise<void> {
    const { row, run } = live;
    const secrets = withoutCallerSecrets(envelope);
    let slot = given;
    let frames: AsyncIterator<E2AResponse> | undefined;
    try {
      if (slot === undefined) {
        live.isWaiting = true;
        this.#endExpired(live);
        const held = this.#heldFor(row);
        if (held !== undefined) await unlessAborted(held, live);
        slot = await this.#slots.take({ ...row, principal: row.owner, signal: live.signal });
        live.isWaiting = false;
        if (live.isAbandoned) return;
        if (this.#isExpired(row)) refuse('expired');
        await patiently(() => this.#store.requests.start(row), this.#patience);
      }
      frames = answer(envelope, new ExtendedCall(call, { log: secrets.log(call.log) }))[Symbol.asyncIterator]();
      while (!run.answered) {
        // Also one that hangs and never looks at its signal is left behind.
        const item = await unlessAborted(frames.next(), live);
        if (item.done === true) refuse('agent_failed', {}, 'The agent ended without an answer.');
        while (live.held !== undefined) await unlessAborted(live.held.released, live);
        const durable = run.give(secrets.frame(item.value));
        if (durable !== undefined) await durable;
      }
    } catch (error) {
      if (live.isAbandoned) return;
      if (run.answered) throw error;
      const known = failureOf(error);
      if (known === undefined) {
        secrets.log(this.#log).error({ request_id: row.requestId, error: String(error) }, 'the agent failed');
      }
      await run.give(secrets.frame(this.#maker(envelope, run.next).error(known ?? failure('agent_failed'))));
    } finally {
      // Told to stop, and not waited for.
      frames?.return?.().catch(() => {});
      for (const callback of live.over) callback();
      slot?.release();
      this.#forget(live);
    }
  }

  async #framesOf(key: RequestKey): Promise<number> {
    let after = -1;
    for (;;) {
      const rows = await this.page(key, { after, limit: 1000, maxBytes: 1 << 20 });
      const last = rows.at(-1);
      if (last === undefined) return after + 1;
      after = last.sequence;
    }
  }

  #maker(envelope: E2AEnvelope, from: number): FrameMaker {
    return new FrameMaker({ envelope, clock: this.#clock, ids: this.#ids, from });
  }
}

function tooMany(agentId: string): Failure {
  return failure('busy', { retry_after: 1 }, `Too many requests wait for the agent ${agentId}.`);
}

interface RunsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly slots: Slots;
  /** Called with every frame, once. */
  readonly onFrame?: ((frame: E2AResponse) => void) | undefined;
  /** Whether an agent may be asked the same thing twice. */
  readonly isIdempotent?: (agentId: string) => boolean;
  /** Resolves when an agent that is away can be asked; `undefined` when it can be now. */
  readonly whenReachable?: (agentId: string) => Promise<void> | undefined;
}

/** Timers of more than 24.8 days fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** To who reads what is left to the next start. It is recorded, so this is no end of it. */
const LEFT = failure(
  'busy',
  { retry_after: 5 },
  'The server is stopping. The request is recorded: come back for its answer.',
);

/** What the ends of interrupted requests may take before the server takes new ones. */
const LONGEST_RECOVERY_MS = 2_000;
