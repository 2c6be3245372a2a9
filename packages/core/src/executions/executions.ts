import { type Failure, failure, type Question } from '@dragoman/protocols';
import type { Finding } from '@dragoman/protocols/a2e-workflow';
import type { Principal } from '../call/principal.ts';
import type { SecretUse } from '../gate/secrets.ts';
import type { Ids } from '../ports/ports.ts';
import { Refused, refuse } from '../refusals/refused.ts';
import { LOST } from '../runs/active-run.ts';
import type { RunPlace } from '../runs/run-place.ts';
import type {
  EffectRow,
  ExecutionAccepted,
  ExecutionKey,
  ExecutionRow,
  ExecutionSummary,
} from '../store/executions.ts';
import type { ForgettingStore, Removed } from '../store/forgetting.ts';
import { type Claimed, claimAll, type Held } from '../store/held.ts';
import { type Patience, patiently } from '../store/patiently.ts';
import type { LongText } from '../text/long-text.ts';
import { everyHour } from '../time/every-hour.ts';
import type { PurgeTime } from '../time/purge-time.ts';
import { cursorAfter, numberInCursor } from './cursor.ts';
import type { ExecutionsElsewhere, WaitOptions } from './elsewhere.ts';
import { ExecutionReaders } from './execution-readers.ts';
import {
  ExecutionRunner,
  type ExecutionRunnerOptions,
  executionConflict,
  executionError,
  LANE,
  type Planned,
} from './execution-runner.ts';
import { LateRecords } from './late-records.ts';
import { type ExecutionEventRecord, executionName, LiveExecution, SUSPENDED } from './live-execution.ts';
import type { ParkedExecution } from './parked-execution.ts';
import { refusalOf } from './planner.ts';
import { refusedCredentials } from './refused-credentials.ts';
import { failedRun, NO_RESULTS, resultText, runningResult } from './result.ts';
import { runningExecution, type StartedExecution } from './started-execution.ts';
import { type ParsedRequest, type RequestOrigin, requestText } from './workflow-request.ts';

export interface ExecutionsOptions extends ExecutionRunnerOptions {
  readonly forgetting: Pick<ForgettingStore, 'execution'>;
  /** Records that a credential was not released. */
  readonly noteRefusal: (credentialId: string, use: SecretUse) => void;
  /** The principal that had this id when an execution was accepted; `undefined` when it no longer exists. */
  readonly principalNamed: (id: string) => Principal | undefined;
  /** How long ended executions are kept. */
  readonly keepMs: number;
  /** The time by which ended executions are deleted. */
  readonly purgeTime: Pick<PurgeTime, 'now'>;
  readonly ids: Ids;
}

/**
 * Runs executions of workflows durably: each is recorded before it runs, its effects before they are visible, its end
 * before it is answered.
 *
 *   accepted ──▶ runs ──▶ ended
 *      ▲          │
 *      ├──restart─┤  runs again from the beginning; recorded effects are read back from the journal
 *      └──parked──┘  the same; while it waits for a person it uses neither its timeout nor a slot
 */
export class Executions {
  readonly #options: ExecutionsOptions;
  readonly #late: LateRecords;
  readonly #readers: ExecutionReaders;
  readonly #runner: ExecutionRunner;
  readonly #patience: Patience;
  #swept: Promise<unknown> | undefined;
  /** The executions that wait for a person, by name. */
  readonly #parked = new Map<string, ParkedExecution>();

  constructor(options: ExecutionsOptions) {
    this.#options = options;
    const { limits, runs, store, clock, log } = options;
    this.#patience = { clock, log, signal: runs.interrupted.signal, what: 'an execution' };
    runs.setLimit(LANE, limits.max_parallel);
    runs.recovers<Claimed<ExecutionRow>>({
      unfinished: () => this.#unfinished(),
      resume: (claimed) => this.#resume(claimed),
    });
    this.#late = new LateRecords({
      store,
      clock,
      accept: (row) => this.#accept(row),
      live: () => runs.values(LiveExecution),
    });
    this.#readers = new ExecutionReaders({ store, runs, live: (key) => this.#live(key), clock });
    this.#runner = new ExecutionRunner(options, this.#late, (live) => void this.#readers.followLost(live));
  }

  /**
   * Records an execution and starts it. A repeat (same id or idempotency key, same plan) returns the earlier
   * execution; another plan under the same name is a conflict.
   */
  async execute(request: ParsedRequest, context: ExecuteContext): Promise<StartedExecution> {
    const { planner, runs, clock, ids } = this.#options;
    const { principal, idempotencyKey, planHash, waits, hops = 0, requestId } = context;
    const planned = await planner.compile(request, principal);
    if (!planned.ok) {
      this.#noteRefused(request, planned.findings, principal);
      throw new Refused(refusalOf(planned.findings));
    }
    if (planHash !== undefined && planHash !== planned.plan.hash)
      throw new Refused(otherPlan(planHash, planned.plan.hash));
    const row: ExecutionRow = {
      owner: principal.id,
      executionId: request.workflow.executionId ?? `exec-${ids.sortable()}`,
      digest: planned.plan.hash,
      idempotencyKey: idempotencyKey ?? null,
      request: requestText(request, { hops, requestId }),
      acceptedAt: clock.now().getTime(),
      end: null,
    };
    const ready = { request, plan: planned.plan, hops };
    const late = new LiveExecution(row, principal);
    late.requestId = requestId;
    const known = this.#live(row);
    // Nothing between here and `try` may throw: a place must be released.
    const place = runs.admit('execution', LANE, principal);
    try {
      if (known !== undefined) await this.#late.now(known);
      else if (place.isRefused) await this.#refuseUnlessThere(row);
      else if (waits === true && this.#late.permits(planned.plan, late)) {
        this.#late.watch();
        return runningExecution(this.#start(late, ready, place));
      }
      const accepted = await this.#accept(row);
      if (!accepted.repeat) {
        const live = new LiveExecution(row, principal, Promise.resolve(accepted));
        live.requestId = requestId;
        return runningExecution(this.#start(live, ready, place));
      }
      if (accepted.row.digest !== row.digest) throw new Refused(executionConflict(accepted.row));
      return { ...(await this.#readers.follow(accepted.row)), replayedFrom: () => accepted.row.acceptedAt };
    } finally {
      place.release();
    }
  }

  async #accept(row: ExecutionRow): Promise<ExecutionAccepted> {
    const { store, runs } = this.#options;
    const accepted = await store.accept(row);
    if (!accepted.repeat) runs.counts.accepted.execution += 1;
    return accepted;
  }

  /** Refuses a new execution because too many wait; a repeat of an earlier one is answered even then. */
  async #refuseUnlessThere(row: ExecutionRow): Promise<void> {
    if ((await this.#options.store.find(row)) !== undefined) return;
    refuse('busy', { retry_after: 1 }, 'Too many executions wait for their turn.');
  }

  /** An execution of the owner as it is now, as JSON text. */
  async find(key: ExecutionKey): Promise<string | LongText | undefined> {
    await this.#ensure(key);
    const soFar = await this.#live(key)?.soFar();
    const row = await this.#options.store.find(key);
    if (row === undefined) return undefined;
    if (row.end !== null) return row.end.result;
    return soFar ?? (await this.#readers.elsewhere?.soFar(key)) ?? JSON.stringify(runningResult(row, NO_RESULTS));
  }

  /** The recorded request of an execution and its recorded effects. */
  async record(key: ExecutionKey): Promise<RecordedExecution | undefined> {
    await this.#ensure(key);
    const { store } = this.#options;
    const row = await store.find(key);
    return row && { request: row.request, planHash: row.digest, effects: await store.effects(row) };
  }

  /** An execution of the owner, whose events can be read after any number. */
  async follow(key: ExecutionKey): Promise<StartedExecution | undefined> {
    await this.#ensure(key);
    const row = await this.#options.store.find(key);
    return row && this.#readers.follow(row);
  }

  /**
   * Follows an execution that an earlier process recorded, once it continues or has ended. `undefined` when it does not
   * exist.
   */
  continued(key: ExecutionKey, signal: AbortSignal): Promise<StartedExecution | undefined> {
    return this.#readers.continued(key, signal);
  }

  /** Cancels an execution, and waits until that is recorded. `undefined` when it does not exist. */
  async cancel(key: ExecutionKey): Promise<{ readonly cancelled: boolean; readonly status: string } | undefined> {
    const live = this.#live(key);
    const reason = new Refused(failure('cancelled', {}, 'The execution was cancelled by its owner.'));
    let isEnded = live !== undefined;
    const parked = this.#parked.get(executionName(key));
    if (live === undefined) isEnded = (await this.#readers.elsewhere?.cancel(key)) ?? false;
    else if (parked === undefined) live.end(reason);
    else parked.end(reason);
    await live?.ended;
    const row = await this.#options.store.find(key);
    if (row === undefined) return undefined;
    const status = row.end?.status ?? 'running';
    return { cancelled: isEnded && status === 'cancelled', status };
  }

  /** The state of a question that an execution has asked, even while no process has the question open. */
  async questionState(key: ExecutionKey, questionId: string): Promise<'open' | 'ended' | undefined> {
    const effects = await this.#options.store.effects(key);
    const asked = effects.find(({ kind, note }) => {
      return kind === 'question' && (JSON.parse(note) as { question: Question }).question.question_id === questionId;
    });
    if (asked === undefined) return undefined;
    return effects.some(({ kind, key: name }) => kind === 'answer' && name === asked.key) ? 'ended' : 'open';
  }

  /** From now on executions of other nodes can be read and cancelled, too. */
  join(elsewhere: ExecutionsElsewhere): void {
    this.#readers.join(elsewhere);
  }

  /** Cancels an execution if it runs here; returns whether it does. */
  cancelHere(key: ExecutionKey): boolean {
    if (this.#live(key) === undefined) return false;
    // The node that requested this looks for the end in the store.
    void this.cancel(key).catch(() => {});
    return true;
  }

  /** For another node: the events of an execution after a number; `undefined` when it does not run here. */
  eventsHere(
    key: ExecutionKey,
    after: number,
    options?: WaitOptions,
  ): Promise<readonly ExecutionEventRecord[] | undefined> {
    return this.#readers.eventsHere(key, after, options);
  }

  /** For another node: whether an execution waits for a person here, or begins to within some seconds. */
  isParkedHere(key: ExecutionKey): Promise<boolean> {
    return this.#readers.isParkedHere(key);
  }

  /** For another node: the state of an execution as JSON text; `undefined` when it does not run here. */
  async soFarHere(key: ExecutionKey): Promise<string | undefined> {
    return this.#live(key)?.soFar();
  }

  /**
   * Stops all executions of this process, because other nodes may have taken them over. Nothing more is recorded;
   * readers follow the node that continues.
   */
  letGo(): void {
    for (const parked of this.#parked.values()) parked.end(LOST);
    for (const live of this.#options.runs.values(LiveExecution)) if (live.recording !== undefined) live.end(LOST);
  }

  /** Deletes an execution that has ended. */
  async remove(key: ExecutionKey): Promise<Removed> {
    await this.#ensure(key);
    return this.#options.forgetting.execution(key);
  }

  /** A page of the owner's executions, newest first. */
  async list(owner: string, { cursor, limit, status }: ListPage): Promise<ExecutionList> {
    const { store } = this.#options;
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : numberInCursor(cursor);
    if (before === undefined) {
      const message = 'cursor must be a next_cursor of this list';
      const suggestion = 'leave cursor out to begin with the newest';
      refuse(
        'invalid_message',
        { issues: [{ pointer: '/cursor', code: 'cursor', message, suggestion }] },
        `${message}.`,
      );
    }
    const own = this.#options.runs.values(LiveExecution).filter(({ row }) => row.owner === owner);
    await Promise.all(own.map((live) => this.#late.now(live)));
    const rows = await store.list(owner, { before, limit: limit + 1, status: status ?? null });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const next = rows.length > limit && last !== undefined ? cursorAfter(last.number) : undefined;
    return { rows: page, next };
  }

  /** Purges old executions until the server stops. */
  start(): void {
    const { store, runs, clock, log, keepMs, purgeTime } = this.#options;
    void everyHour(() => store.purge(purgeTime.now() - keepMs), {
      clock,
      log,
      signal: runs.stopped.signal,
      failed: 'old executions could not be forgotten',
    });
  }

  async *#unfinished(): AsyncGenerator<readonly Claimed<ExecutionRow>[]> {
    // Only once: later, another execution may be writing a file that no row names yet.
    this.#swept ??= this.#options.storedData.sweep();
    await this.#swept;
    yield* claimAll((limit) => this.#options.store.claim(limit), this.#patience);
  }

  async #resume({ row, held }: Claimed<ExecutionRow>): Promise<undefined> {
    const principal = this.#options.principalNamed(row.owner);
    if (principal === undefined)
      await this.#endAtOnce(row, held, failure('forbidden', {}, 'The agent that started this execution was removed.'));
    else this.#start(new LiveExecution(row, principal, Promise.resolve({ repeat: false, held })));
  }

  #live(key: ExecutionKey): LiveExecution | undefined {
    const name = executionName(key);
    return this.#options.runs.get(LiveExecution, name) ?? this.#parked.get(name)?.live;
  }

  #start(live: LiveExecution, planned?: Planned, place?: RunPlace): LiveExecution {
    let parked: ParkedExecution | undefined;
    const work = async () => {
      parked = await this.#runner.work(live, planned);
      // Before the run leaves the table, so that `#live` finds the execution by its name at every moment.
      if (parked !== undefined) this.#parked.set(live.name, parked);
    };
    const done = this.#options.runs.start(live, work, { name: live.name, place });
    void done.then(() => parked && this.#park(parked));
    return live;
  }

  /** Waits until the question has ended, however long that takes, and then continues the execution. */
  async #park(parked: ParkedExecution): Promise<void> {
    const { runs, questions, log } = this.#options;
    const { live, pending } = parked;
    const leave = parked.onStop(runs.draining, SUSPENDED);
    live.park(pending.question);
    try {
      await questions.open(parked, pending.question);
    } catch (reason) {
      live.withdrawn = reason instanceof Error ? reason : new Error(String(reason));
    }
    leave();
    live.park(undefined);
    parked.over();
    this.#parked.delete(live.name);
    if (live.withdrawn !== undefined && !(live.withdrawn instanceof Refused) && live.withdrawn !== SUSPENDED) {
      log.error({ execution_id: live.row.executionId, error: String(live.withdrawn) }, 'opening a question failed');
    }
    if (live.withdrawn === LOST) await this.#readers.followLost(live);
    else if (runs.isClosed('execution') || live.withdrawn === SUSPENDED) {
      live.fail(new Refused(failure('interrupted', { retry_after: 5 })));
    } else this.#start(live);
  }

  /** Records for the operator which credential would have been sent where. */
  #noteRefused({ workflow }: ParsedRequest, findings: readonly Finding[], { id: caller }: Principal): void {
    const { planner, noteRefusal } = this.#options;
    for (const { id, to, operationId } of refusedCredentials(workflow, findings, planner.own)) {
      noteRefusal(id, { caller, to, purpose: operationId });
    }
  }

  async #endAtOnce(row: ExecutionRow, held: Held, why: Failure): Promise<void> {
    const endedAt = this.#options.clock.now().getTime();
    const end = {
      status: 'error',
      result: resultText(row, failedRun(executionError(why)), endedAt),
      events: '[]',
      endedAt,
    };
    await patiently(() => this.#options.store.finish(held, [], end), this.#patience);
  }

  /** A caller that looks up a running execution must find it recorded. */
  async #ensure(key: ExecutionKey): Promise<void> {
    const live = this.#live(key);
    if (live !== undefined) await this.#late.now(live);
  }
}

/** An execution as it is on the disk. */
export interface RecordedExecution {
  /** JSON text: the workflow, and how it is run. */
  readonly request: string;
  readonly planHash: string;
  readonly effects: readonly EffectRow[];
}

function otherPlan(expected: string, hash: string): Failure {
  const suggestions = ['look at the plan again, and send its hash', 'leave Plan-Hash out to run it as it is'];
  return failure(
    'conflict',
    { suggestions },
    `The plan has changed: expected ${expected.slice(0, 80)}; it is ${hash}.`,
  );
}

export interface ExecuteContext extends RequestOrigin {
  readonly principal: Principal;
  /** The execution runs only if its plan has this hash. */
  readonly planHash?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The caller receives nothing before the end of the execution. */
  readonly waits?: boolean;
}

interface ListPage {
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly status?: string | undefined;
}

export interface ExecutionList {
  readonly rows: readonly ExecutionSummary[];
  /** Where the next page begins; `undefined` when this is the last. */
  readonly next: string | undefined;
}
