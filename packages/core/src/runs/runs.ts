import {
  type E2AAuth,
  type E2AEnvelope,
  type E2AResponse,
  type Failure,
  failure,
  withoutSecrets,
} from '@dragoman/protocols';
import { type Call, ExtendedCall } from '../call/call.ts';
import type { Handler } from '../call/handler.ts';
import { allows } from '../call/principal.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { Refused, refuse } from '../refusals/refused.ts';
import { claimAll } from '../store/held.ts';
import { type Patience, patiently } from '../store/patiently.ts';
import type { Accepted, Claimed, FrameRow, Held, RecordedWith, RequestKey, RequestRow, Store } from '../store/store.ts';
import { afterPromises } from './after-promises.ts';
import { arrivalText } from './arrival.ts';
import type { Elsewhere, RunControl } from './elsewhere.ts';
import { envelopeRecord, recordedEnvelope } from './envelope-record.ts';
import { frameFrom } from './frame-text.ts';
import { JournalPages, type PageRange } from './journal-pages.ts';
import type { FindRequest, KnownRequest } from './known-request.ts';
import { holding, LiveRequest, requestName } from './live-request.ts';
import { Readers } from './readers.ts';
import { type FrameSource, Reading } from './reading.ts';
import { RecordedFrames } from './recorded-frames.ts';
import { hasExpired, RequestRunner } from './request-runner.ts';
import { Run, type RunOptions } from './run.ts';
import type { RunPlace } from './run-place.ts';
import type { Recoverable, RunLoad, RunTable } from './run-table.ts';
import { asksTheSame, conflictWith } from './same-request.ts';

/** The data of an accepted request beyond the envelope. */
export interface Admission {
  readonly agentId: string;
  /** The conversation it belongs to. */
  readonly sessionId: string | null;
  readonly priority: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number | null;
  /** Whether the request ends when its last reader leaves. */
  readonly endsUnread?: boolean;
}

/** Records and answers the requests of this process, and reads those that are recorded. */
export class Runs {
  /** Every run of this process. */
  readonly table: RunTable;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #runner: RequestRunner;
  readonly #isIdempotent: (agentId: string) => boolean;
  readonly #whenReachable: (agentId: string) => Promise<void> | undefined;
  readonly #frameKeyOf: (agentId: string) => FrameKey | undefined;
  readonly #pages: JournalPages;
  readonly #runParts: Pick<RunOptions, 'store' | 'pages' | 'counts' | 'patience' | 'onFrame' | 'onLanded'>;
  readonly #patience: Patience;
  /** By the number by which nodes name a request to each other. Empty where one process owns the store. */
  readonly #byNumber = new Map<number, LiveRequest>();
  #elsewhere: Elsewhere | undefined;
  #resume: ((claimed: Claimed<RequestRow>, options?: ResumeOptions) => Promise<unknown>) | undefined;
  #findElsewhere: FindRequest = async () => undefined;

  constructor({
    store,
    clock,
    ids,
    log,
    table,
    onFrame,
    isIdempotent = () => false,
    whenReachable = () => undefined,
    frameKeyOf = () => undefined,
  }: RunsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.table = table;
    this.#runner = new RequestRunner({
      ...{ table, clock, ids, log },
      heldFor: (row) => this.#heldFor(row),
      onLost: (live) => this.#lose(live),
    });
    this.#isIdempotent = isIdempotent;
    this.#whenReachable = whenReachable;
    this.#frameKeyOf = frameKeyOf;
    this.#patience = { clock, log, signal: table.interrupted.signal, what: 'an answer' };
    this.#pages = new JournalPages(store.requests);
    this.#runParts = {
      store: store.requests,
      pages: this.#pages,
      counts: table.counts,
      patience: this.#patience,
      onFrame,
      onLanded: (request, next, isOver) => this.#elsewhere?.landed(request, next, isOver),
    };
  }

  /**
   * Records the request and starts answering it, with or without readers. A repeat (same id or key, same body) gets the
   * answer already given or under way; the same id with another body is a conflict.
   */
  open(envelope: E2AEnvelope, call: Call, admission: Admission, answer: Handler): Reading {
    return new Reading({ open: () => this.#open(envelope, call, admission, answer), after: call.after ?? -1 });
  }

  /**
   * Opens a request that no agent can answer any more: a repeat gets the answer already given or under way, if its
   * caller may still use the agent that gave it. Any other request is refused with `reason`.
   */
  reopen(envelope: E2AEnvelope, call: Call, reason: Refused): Reading {
    return new Reading({ open: () => this.#reopen(envelope, call, reason), after: call.after ?? -1 });
  }

  /**
   * The frames of a request after a sequence, up to the final one, including those still to come. The signal aborts
   * when the reader leaves.
   */
  read(key: RequestKey, after: number, signal?: AbortSignal): Reading {
    return new Reading({ open: async () => this.#sourceOf(key, { signal }), after });
  }

  /** How many requests each agent answers now, and how many wait for it. Agents with neither are absent. */
  loads(): ReadonlyMap<string, RunLoad> {
    const loads = new Map<string, RunLoad>();
    for (const { row, isWaiting } of this.table.values(LiveRequest)) {
      const { running, waiting } = loads.get(row.agentId) ?? { running: 0, waiting: 0 };
      loads.set(row.agentId, isWaiting ? { running, waiting: waiting + 1 } : { running: running + 1, waiting });
    }
    return loads;
  }

  /** Finds a recorded request, of any protocol. */
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

  /** Connects to the other nodes, which answer requests of the same store. */
  join(elsewhere: Elsewhere): void {
    this.#elsewhere = elsewhere;
  }

  /** Reads pages of recorded answers, owner by owner. */
  get pages(): JournalPages {
    return this.#pages;
  }

  /** Lets `find` also return requests that another part of the server records, such as executions. */
  findElsewhere(find: FindRequest): void {
    this.#findElsewhere = find;
  }

  /** As many recorded frames after a sequence as fit into one page. */
  page(key: RequestKey, range: PageRange): Promise<FrameRow[]> {
    return this.#pages.read(key, range);
  }

  async #open(envelope: E2AEnvelope, call: Call, admission: Admission, answer: Handler): Promise<FrameSource> {
    const requestId =
      envelope.request_id ?? refuse('invalid_message', {}, 'A request without an id cannot be recorded.');
    const recorded = withoutSecrets(envelope);
    const text = envelopeRecord(recorded);
    const { nonce, letter } = call.beside ?? {};
    const recordedWith = { nonce, arrival: arrivalText(envelope, call, admission.agentId), letter };
    const looking = this.#lineFor(admission.agentId);
    const line = looking === undefined ? undefined : await looking;
    const opened = { requestId, given: envelope, envelope: recorded, text, call, admission, recordedWith };
    if (line !== undefined) return this.#openAt(line, opened);
    const isHeld = this.#heldFor(admission) !== undefined;
    // Admitted only after everything that can throw, because a place must be released.
    const place = this.table.admit('request', admission.agentId, call.principal, { isHeld });
    const row = this.#rowOf(opened, place.hasSlot ? 'started' : 'accepted');
    let early: LiveRequest | undefined;
    try {
      if (hasExpired(row, this.#clock)) await this.#refuseUnlessKnown(row, failure('expired'));
      else if (place.isRefused) await this.#refuseUnlessKnown(row, tooMany(row.agentId));
      if (place.hasSlot && this.#mayStartEarly(row, call)) {
        early = this.#begin({ row, held: null }, envelope, call, answer, place);
      }
      const accepted = await (early === undefined
        ? this.#store.requests.accept(row, recordedWith)
        : this.#acceptEarly(early, recordedWith));
      if ('reused' in accepted) refuse('nonce_reused');
      if (!accepted.repeat) {
        const { source_protocol: protocol } = envelope.provenance;
        this.table.counts.acceptRequest({ protocol, agentId: row.agentId });
        const { held } = accepted;
        early?.run.recorded(held);
        if (early !== undefined) this.#number(early);
        const live = early ?? this.#begin({ row, held }, envelope, call, answer, place);
        // The request can be cancelled from here on.
        call.beside?.onAccepted?.(row, { isRepeat: false });
        if (admission.endsUnread === true) live.readers = this.#endUnread(row, call.signal);
        return live.run;
      }
      this.#abandon(early, new Error('the request is a repeat'));
      return this.#repeated(accepted.row, recorded, call);
    } catch (error) {
      this.#abandon(early, error);
      throw error;
    } finally {
      place.release();
    }
  }

  #rowOf({ requestId, text, call, admission }: Opened, state: RequestRow['state']): RequestRow {
    const { agentId, sessionId, expiresAt, priority } = admission;
    return {
      owner: call.principal.id,
      requestId,
      agentId,
      sessionId,
      idempotencyKey: call.beside?.idempotencyKey ?? null,
      envelope: text,
      state,
      acceptedAt: this.#clock.now().getTime(),
      expiresAt,
      priority,
    };
  }

  /**
   * The other node that an agent is connected to. `undefined` without a lookup when there are no other nodes or it is
   * reachable here.
   */
  #lineFor(agentId: string): Promise<number | undefined> | undefined {
    if (this.#elsewhere === undefined || this.#whenReachable(agentId) === undefined) return undefined;
    return this.lineOf(agentId);
  }

  /** The other node that an agent is connected to. */
  lineOf(agentId: string): Promise<number | undefined> | undefined {
    return this.#elsewhere?.lineOf(agentId);
  }

  /** Records a request for the node that its agent is connected to, which answers it. */
  async #openAt(holder: number, opened: Opened): Promise<FrameSource> {
    const { given, envelope, call, admission, recordedWith } = opened;
    this.table.requireOpen('request');
    const row = this.#rowOf(opened, 'accepted');
    if (hasExpired(row, this.#clock)) await this.#refuseUnlessKnown(row, failure('expired'));
    if (given.auth !== null) await this.#elsewhere?.giveAuth(holder, row, given.auth);
    const accepted = await this.#store.requests.accept(row, { ...recordedWith, holder });
    if ('reused' in accepted) refuse('nonce_reused');
    if (accepted.repeat) return this.#repeated(accepted.row, envelope, call);
    this.table.counts.acceptRequest({ protocol: envelope.provenance.source_protocol, agentId: row.agentId });
    call.beside?.onAccepted?.(row, { isRepeat: false });
    this.#elsewhere?.handOver(holder);
    if (admission.endsUnread === true) this.#endUnread(row, call.signal);
    return this.#recorded(row);
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

  /** Refuses a new request. A repeat gets its answer, even if too many requests wait or it has expired. */
  async #refuseUnlessKnown(row: RequestRow, reason: Failure): Promise<void> {
    if ((await this.#store.requests.earlier(row)) === undefined) throw new Refused(reason);
  }

  /** A request with an expiry waits for an agent that is away; any other fails at once. */
  #heldFor({ agentId, expiresAt }: Pick<RequestRow, 'agentId' | 'expiresAt'>): Promise<void> | undefined {
    return expiresAt === null ? undefined : this.#whenReachable(agentId);
  }

  /**
   * An idempotent agent may start before its request is on the disk. The caller receives nothing until the request is;
   * after a crash in between, the caller sends it again, and repeating it has no further effect.
   */
  #mayStartEarly(row: RequestRow, { beside }: Call): boolean {
    return beside?.nonce === undefined && this.#isIdempotent(row.agentId) && this.#find(row) === undefined;
  }

  /** Records a request together with its answer, in one commit, if the agent gave the answer without waiting. */
  async #acceptEarly({ row, run }: LiveRequest, beside: RecordedWith): Promise<Accepted> {
    await afterPromises();
    const frames = run.takeAnswer();
    const { requests } = this.#store;
    return frames === undefined ? requests.accept(row, beside) : requests.acceptAnswered(row, frames, beside);
  }

  #abandon(early: LiveRequest | undefined, reason: unknown): void {
    if (early === undefined) return;
    early.abandon(reason);
    this.table.remove(early);
  }

  #find(key: RequestKey): LiveRequest | undefined {
    return this.table.get(LiveRequest, requestName(key));
  }

  /** Ends a request when its last reader leaves. The caller is the first reader. */
  #endUnread(key: RequestKey, signal: AbortSignal): Readers {
    const readers = new Readers(() => {
      // A server that stops closes connections: its runs are interrupted, not cancelled.
      if (this.table.draining.aborted) return;
      if (this.#elsewhere === undefined) this.cancel(key, UNREAD);
      else void this.#endWhenUnread(key, readers, this.#elsewhere);
    });
    readers.add(signal);
    return readers;
  }

  async #endWhenUnread(key: RequestKey, readers: Readers, elsewhere: Elsewhere): Promise<void> {
    const { signal } = this.table.stopped;
    try {
      while (await elsewhere.isRead(key)) await this.#clock.wait(UNREAD_PAUSE_MS, signal);
      if (readers.isEmpty) await this.cancel(key, UNREAD);
    } catch (error) {
      if (!signal.aborted)
        this.#log.warn({ request_id: key.requestId, error: String(error) }, 'readers were not found');
    }
  }

  /** Whether a request that is answered here, for another node, is read here. */
  isReadHere(key: RequestKey): boolean {
    return this.#find(key)?.readers?.isEmpty === false;
  }

  /** The frames of a request, from its run or else from the store, where it is recorded before its run ends. */
  #sourceOf(key: RequestKey, reader: { readonly signal?: AbortSignal | undefined } = {}): FrameSource {
    const live = this.#find(key);
    // `signal` is read only where needed, because reading it creates it.
    if (live?.readers !== undefined && reader.signal !== undefined) live.readers.add(reader.signal);
    if (live !== undefined) return live.run;
    return this.#recorded(key, reader.signal);
  }

  /** The recorded frames of a request, including those that another node still records. */
  #recorded(key: RequestKey, signal?: AbortSignal): FrameSource {
    if (this.#elsewhere !== undefined) return this.#elsewhere.follow(key, signal);
    return { after: (sequence) => this.#pages.read(key, { after: sequence, signal }) };
  }

  /** Ends a running request with `E2A.CANCELLED`. False when it is not running. */
  cancel(key: RequestKey, reason = 'The request was cancelled by its caller.'): boolean | Promise<boolean> {
    return this.end(key, failure('cancelled', {}, reason));
  }

  /** Ends a running request with this failure. False when it is not running. */
  end(key: RequestKey, reason: Failure): boolean | Promise<boolean> {
    return this.#control(key, { do: 'end', reason });
  }

  /** Pauses a running answer: the agent's frames wait until `resume`. False when the request is not running. */
  pause(key: RequestKey): boolean | Promise<boolean> {
    return this.#control(key, { do: 'pause' });
  }

  resume(key: RequestKey): boolean | Promise<boolean> {
    return this.#control(key, { do: 'resume' });
  }

  #control(key: RequestKey, control: RunControl): boolean | Promise<boolean> {
    const live = this.#find(key);
    if (live !== undefined) return controlled(live, control);
    return this.#elsewhere?.control(key, control) ?? false;
  }

  /** Carries out an action that another node requested. False when the request is not answered here. */
  controlHere(request: number, control: RunControl): boolean {
    const live = this.#byNumber.get(request);
    return live !== undefined && controlled(live, control);
  }

  /** Stops the work on a request that another node has taken over. */
  loseHere(request: number): void {
    const live = this.#byNumber.get(request);
    if (live !== undefined) this.#lose(live);
  }

  /** The name and the credentials of a request that waits here, for the node that takes it over. */
  authHere(request: number): { readonly key: RequestKey; readonly auth: E2AAuth } | undefined {
    const live = this.#byNumber.get(request);
    return live === undefined || live.auth === null ? undefined : { key: live.row, auth: live.auth };
  }

  /** The numbers of the requests that wait here for their turn or their agent. */
  waitingHere(): number[] {
    return [...this.#byNumber].filter(([, { isWaiting }]) => isWaiting).map(([request]) => request);
  }

  /** Answers a request that has waited on another node. */
  adopt(claimed: Claimed<RequestRow>): Promise<void> {
    return this.#adopt(claimed);
  }

  /**
   * Answers a request that another node recorded for this one. It ends as `busy` when too many wait, which only this
   * node can count.
   */
  takeHandedOver(claimed: Claimed<RequestRow>): Promise<void> {
    return this.#adopt(claimed, { mayRefuse: true });
  }

  async #adopt(claimed: Claimed<RequestRow>, options?: ResumeOptions): Promise<void> {
    try {
      await this.#resume?.(claimed, options);
    } catch (error) {
      // It must not keep the others from being answered, which are claimed with it.
      this.#log.error({ request_id: claimed.row.requestId, error: String(error) }, 'a request could not be continued');
    }
    const live = this.#find(claimed.row);
    // The node that recorded the request ends it when nobody reads it, so the last reader here does not.
    if (live !== undefined) live.readers ??= new Readers(() => {});
  }

  /** The sequence of the first frame that is not on the disk yet; `undefined` when the request is not answered here. */
  durableHere(request: number): number | undefined {
    return this.#byNumber.get(request)?.run.durable;
  }

  /** The running requests of an owner, newest last. */
  async running(owner: string): Promise<readonly RequestRow[]> {
    if (this.#elsewhere !== undefined) return this.#elsewhere.running(owner);
    return this.table
      .values(LiveRequest)
      .map((live) => live.row)
      .filter((row) => row.owner === owner);
  }

  /** Stops the work on all recorded requests, because other nodes may continue them. Readers continue there. */
  letGo(): void {
    for (const live of this.table.values(LiveRequest)) this.#lose(live);
  }

  #lose(live: LiveRequest): void {
    // A request that is not recorded yet belongs to no process.
    if (live.isAbandoned || live.run.held === null) return;
    this.#log.warn({ request_id: live.row.requestId }, 'another process answers a request that was answered here');
    live.lose(this.#recorded(live.row));
    this.table.remove(live);
  }

  #number(live: LiveRequest): void {
    const { held } = live.run;
    if (this.#elsewhere === undefined || held === null) return;
    this.#byNumber.set(held.id, live);
    void live.done.then(() => {
      if (this.#byNumber.get(held.id) === live) this.#byNumber.delete(held.id);
    });
  }

  /** Resolves when all running requests to an agent are answered. */
  async settled(agentId: string): Promise<void> {
    const running = this.table.values(LiveRequest).filter(({ row }) => row.agentId === agentId);
    await Promise.all(running.map(({ done }) => done));
  }

  /**
   * Resumes the requests of an earlier process. Accepted requests that had not started run. Started requests continue
   * after their recorded frames where the target can give its answer again. Others end with `E2A.INTERRUPTED`, even if
   * the agent is idempotent: the request may have caused the crash.
   */
  recoverable(callFor: (row: RequestRow) => Call | undefined, answer: Handler): Recoverable<Claimed<RequestRow>> {
    const resume = async (claimed: Claimed<RequestRow>, { mayRefuse = false }: ResumeOptions = {}) => {
      const { row } = claimed;
      // The claim also took the request away from this process, which may still be working on it.
      const lost = this.#find(row);
      if (lost !== undefined) this.#lose(lost);
      const envelope = this.#withAuth(recordedEnvelope(row.envelope), row);
      const call = callFor(row);
      const frameKey = this.#frameKeyOf(row.agentId);
      if (call === undefined || (row.state !== 'accepted' && frameKey === undefined)) {
        return { ended: this.#endAtOnce(claimed, envelope, await this.#recordedFrames(row), failure('interrupted')) };
      }
      if (mayRefuse && !this.table.mayWait(row.agentId, call.principal)) {
        return { ended: this.#endAtOnce(claimed, envelope, new RecordedFrames(() => ''), tooMany(row.agentId)) };
      }
      const recorded = row.state === 'accepted' ? undefined : await this.#recordedFrames(row, frameKey);
      this.#begin({ ...claimed, recorded }, envelope, call, answer);
      return undefined;
    };
    this.#resume = resume;
    return { unfinished: () => claimAll((limit) => this.#store.requests.claim(limit), this.#patience), resume };
  }

  #withAuth(recorded: E2AEnvelope, key: RequestKey): E2AEnvelope {
    const auth = recorded.auth === null ? undefined : this.#elsewhere?.takeAuth(key);
    return auth === undefined ? recorded : { ...recorded, auth };
  }

  #endAtOnce(
    { row, held }: Claimed<RequestRow>,
    envelope: E2AEnvelope,
    recorded: RecordedFrames,
    reason: Failure,
  ): Promise<void> {
    const live = this.#live({ row, held, recorded });
    const { run } = live;
    const end = async () => {
      try {
        await run.give(this.#runner.maker(envelope, recorded.count).error(reason));
      } catch (error) {
        this.#log.warn({ request_id: row.requestId, error: String(error) }, 'a request has no end yet');
      }
    };
    live.done = this.table.start(live, end, { name: requestName(row) });
    this.#number(live);
    return live.done;
  }

  #begin(request: RequestToBegin, envelope: E2AEnvelope, call: Call, answer: Handler, place?: RunPlace): LiveRequest {
    const { row } = request;
    const live = this.#live(request);
    live.auth = envelope.auth;
    // The call gets the signal of the request, not of its first reader, so the work continues when that reader leaves.
    const own = new ExtendedCall(call, live);
    const work = () => this.#runner.work(live, envelope, own, answer);
    live.done = this.table.start(live, work, { name: requestName(row), place });
    this.#number(live);
    return live;
  }

  #live({ row, held, recorded }: RequestToBegin): LiveRequest {
    const onLost = () => this.#lose(live);
    const from = recorded?.count ?? 0;
    const run = new Run({ key: row, held, agentId: row.agentId, ...this.#runParts, onLost, from });
    const canContinue = this.#frameKeyOf(row.agentId) !== undefined;
    const live: LiveRequest = new LiveRequest(row, run, { canContinue, recorded });
    return live;
  }

  async #recordedFrames(key: RequestKey, frameKey: FrameKey = () => ''): Promise<RecordedFrames> {
    const recorded = new RecordedFrames(frameKey);
    for (;;) {
      const range = { after: recorded.count - 1, limit: 1000, maxBytes: 1 << 20 };
      const rows = await patiently(() => this.page(key, range), this.#patience);
      if (rows.length === 0) return recorded;
      for (const { text } of rows) recorded.add(frameFrom(text));
    }
  }
}

interface Opened {
  readonly requestId: string;
  readonly given: E2AEnvelope;
  /** `given` without its secrets, as it is recorded. */
  readonly envelope: E2AEnvelope;
  readonly text: string;
  readonly call: Call;
  readonly admission: Admission;
  readonly recordedWith: RecordedWith;
}

function controlled(live: LiveRequest, control: RunControl): boolean {
  if (live.run.answered) return false;
  if (control.do === 'end') live.end(new Refused(control.reason));
  else if (control.do === 'pause') live.held ??= holding();
  else {
    live.held?.release();
    live.held = undefined;
  }
  return true;
}

const UNREAD = 'The request was to end with its last reader, who left.';
/** How often to ask whether other nodes still read a request that has no reader here. */
const UNREAD_PAUSE_MS = 1000;

function tooMany(agentId: string): Failure {
  return failure('busy', { retry_after: 1 }, `Too many requests wait for the agent ${agentId}.`);
}

interface ResumeOptions {
  /** Whether the request ends as `busy` when too many wait. */
  readonly mayRefuse?: boolean;
}

interface RequestToBegin {
  readonly row: RequestRow;
  readonly held: Held | null;
  readonly recorded?: RecordedFrames | undefined;
}

/** The identity of a frame, for an agent whose answers can be given again. */
type FrameKey = (frame: E2AResponse) => string;

interface RunsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Every run of this process. */
  readonly table: RunTable;
  /** Called with every frame, once. */
  readonly onFrame?: ((frame: E2AResponse) => void) | undefined;
  /** Whether repeating a request to an agent has no further effect. Default: false. */
  readonly isIdempotent?: (agentId: string) => boolean;
  /** Resolves when an agent that is away is reachable; `undefined` when it is now. */
  readonly whenReachable?: (agentId: string) => Promise<void> | undefined;
  /** The `FrameKey` of an agent whose answers can be given again after a restart. */
  readonly frameKeyOf?: (agentId: string) => FrameKey | undefined;
}
