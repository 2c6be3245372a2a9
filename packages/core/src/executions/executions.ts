import { FAILURES, type Failure, failure, type QuestionEnd } from '@dragoman/protocols';
import { type Finding, type WorkflowError, withCategory } from '@dragoman/protocols/a2e-workflow';
import type { Principal } from '../call/principal.ts';
import { Ending, type StopSignal } from '../ending/ending.ts';
import type { HostPort } from '../gate/host-port.ts';
import type { Redactor } from '../gate/redactor.ts';
import type { SecretUse } from '../gate/secrets.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import type { OpenQuestions } from '../questions/open-questions.ts';
import { failureOf, Refused, refuse } from '../refusals/refused.ts';
import { LOST } from '../runs/active-run.ts';
import { FAILED, outcomeOfFailure, SUCCEEDED } from '../runs/run-counts.ts';
import type { RunPlace } from '../runs/run-place.ts';
import type { RunTable } from '../runs/run-table.ts';
import type {
  EffectRow,
  ExecutionAccepted,
  ExecutionKey,
  ExecutionRow,
  ExecutionStore,
  ExecutionSummary,
} from '../store/executions.ts';
import type { ForgettingStore, Removed } from '../store/forgetting.ts';
import { type Claimed, claimAll, type Held, isNotHeld } from '../store/held.ts';
import { type Patience, patiently } from '../store/patiently.ts';
import type { LongText } from '../text/long-text.ts';
import { everyHour } from '../time/every-hour.ts';
import type { PurgeTime } from '../time/purge-time.ts';
import type { Budgets } from '../workflow/budget.ts';
import type { Plan } from '../workflow/plan.ts';
import type { PoolRunOptions } from '../workflow/pool.ts';
import type { PoolResult } from '../workflow/pool-messages.ts';
import type { ApiCalls } from './api-calls.ts';
import { cursorAfter, numberInCursor } from './cursor.ts';
import { EffectJournal } from './effect-journal.ts';
import type { ExecutionsElsewhere } from './elsewhere.ts';
import { JournaledEffects } from './journaled-effects.ts';
import { LateRecords } from './late-records.ts';
import type { WorkflowLimits } from './limits.ts';
import { type ExecutionEventRecord, executionName, LiveExecution, pastEvents, SUSPENDED } from './live-execution.ts';
import { type AskPerson, ParkedExecution, WaitsForPerson } from './parked-execution.ts';
import { type Planner, refusalOf } from './planner.ts';
import { refusedCredentials } from './refused-credentials.ts';
import { type EndedRun, failedRun, NO_RESULTS, resultText, runningResult } from './result.ts';
import {
  type EndedExecution,
  finishedExecution,
  remoteExecution,
  runningExecution,
  type StartedExecution,
} from './started-execution.ts';
import type { StoredData } from './stored-data.ts';
import type { AskTarget } from './target-asks.ts';
import { UsedSecrets } from './used-secrets.ts';
import {
  type ParsedRequest,
  type RequestOrigin,
  recordedRequest,
  requestText,
  type WorkflowRequestReader,
} from './workflow-request.ts';

export interface ExecutionsOptions {
  /** Every run of this process. */
  readonly runs: RunTable;
  readonly store: ExecutionStore;
  readonly forgetting: Pick<ForgettingStore, 'execution'>;
  readonly reader: WorkflowRequestReader;
  readonly planner: Planner;
  readonly calls: ApiCalls;
  readonly storedData: StoredData;
  readonly askTarget: AskTarget;
  /** The open questions to people. */
  readonly questions: Pick<OpenQuestions, 'made' | 'open'>;
  /** Records that a credential was not let out. */
  readonly noteRefusal: (credentialId: string, use: SecretUse) => void;
  /** Finds the secrets that a host could have been sent. */
  readonly redactorFor: (host: HostPort) => Redactor | undefined;
  /** Runs a plan to its end. */
  readonly run: (plan: Plan, options: PoolRunOptions) => Promise<PoolResult>;
  /** The principal that had this id when an execution was accepted; `undefined` when it no longer exists. */
  readonly principalNamed: (id: string) => Principal | undefined;
  readonly limits: WorkflowLimits;
  /** How long what has ended is kept. */
  readonly keepMs: number;
  /** The time by which it is deleted. */
  readonly purgeTime: Pick<PurgeTime, 'now'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/**
 * Every execution of a workflow, durable: recorded before it runs, its effects before anybody learns of them, its end before
 * it is answered.
 *
 *   accepted ──▶ runs ──▶ ended
 *      ▲          │
 *      └──restart─┘  from the beginning; what it did and learned before is read back from the journal
 *      └──parked──┘  the same: it waits for a person in the store, and takes neither time nor a place
 */
export class Executions {
  readonly #options: ExecutionsOptions;
  readonly #budgets: Partial<Budgets>;
  readonly #late: LateRecords;
  readonly #patience: Patience;
  #elsewhere: ExecutionsElsewhere | undefined;
  #swept: Promise<unknown> | undefined;
  /** Those that wait for a person. */
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
    this.#budgets = {
      steps: limits.max_steps,
      apiCalls: limits.max_api_calls,
      dataBytes: limits.max_data_bytes,
      iterations: limits.max_iterations,
    };
    this.#late = new LateRecords({
      store,
      clock: options.clock,
      accept: (row) => this.#accept(row),
      live: () => runs.values(LiveExecution),
    });
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
    // After everything that can throw: a place must be released.
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
      if (accepted.row.digest !== row.digest) throw new Refused(conflictWith(accepted.row));
      return { ...(await this.#follow(accepted.row)), replayedFrom: () => accepted.row.acceptedAt };
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

  /** A repeat is answered even if too many executions wait. */
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
    return row.end?.result ?? soFar ?? JSON.stringify(runningResult(row, NO_RESULTS));
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
    return row && this.#follow(row);
  }

  /** One that an earlier process recorded, as soon as it continues or has ended. `undefined` when it does not exist. */
  async continued(key: ExecutionKey, signal: AbortSignal): Promise<StartedExecution | undefined> {
    const { store, clock } = this.#options;
    for (;;) {
      const row = await store.find(key);
      if (row === undefined) return undefined;
      // After the death of a node, another one may have taken over the execution than this request.
      const isRunning = this.#live(row) !== undefined || (await this.#elsewhere?.isRunning(row)) === true;
      if (row.end !== null || isRunning) return this.#follow(row);
      await clock.wait(CONTINUED_PAUSE_MS, signal);
    }
  }

  /** Ends a running execution, and waits until that is recorded. `undefined` when it does not exist. */
  async cancel(key: ExecutionKey): Promise<{ readonly cancelled: boolean; readonly status: string } | undefined> {
    const live = this.#live(key);
    const reason = new Refused(failure('cancelled', {}, 'The execution was cancelled by its owner.'));
    let isEnded = live !== undefined;
    const parked = this.#parked.get(executionName(key));
    if (live === undefined) isEnded = (await this.#elsewhere?.cancel(key)) ?? false;
    else if (parked === undefined) live.end(reason);
    else parked.end(reason);
    await live?.ended;
    const row = await this.#options.store.find(key);
    if (row === undefined) return undefined;
    const status = row.end?.status ?? 'running';
    return { cancelled: isEnded && status === 'cancelled', status };
  }

  /** Executions may be run by other nodes, too. */
  join(elsewhere: ExecutionsElsewhere): void {
    this.#elsewhere = elsewhere;
  }

  /** Whether it runs here, and is ended with that. */
  cancelHere(key: ExecutionKey): boolean {
    if (this.#live(key) === undefined) return false;
    // The node that requested this looks for the end in the store.
    void this.cancel(key).catch(() => {});
    return true;
  }

  /** Its events after a number, without the final one: none where there are none for some seconds. `undefined`: it does not run here. */
  async eventsHere(key: ExecutionKey, after: number): Promise<readonly ExecutionEventRecord[] | undefined> {
    const { clock } = this.#options;
    const live = this.#live(key);
    if (live === undefined) return undefined;
    const until = clock.elapsed() + EVENTS_WITHIN_MS;
    while (live.eventCount <= after + 1 && this.#live(key) === live && clock.elapsed() < until)
      await clock.wait(EVENTS_PAUSE_MS);
    const events: ExecutionEventRecord[] = [];
    const most = Math.min(live.eventCount - (after + 1), MOST_EVENTS);
    if (most <= 0) return events;
    for await (const event of live.read(after)) {
      if (event.event === 'execution-finished' || events.push(event) >= most) break;
    }
    return events;
  }

  /** Others may continue what runs here: nothing more is recorded, and readers continue there. */
  letGo(): void {
    for (const parked of this.#parked.values()) parked.end(LOST);
    for (const live of this.#options.runs.values(LiveExecution)) if (live.recording !== undefined) live.end(LOST);
  }

  /** Deletes an execution that has ended. */
  async remove(key: ExecutionKey): Promise<Removed> {
    await this.#ensure(key);
    return this.#options.forgetting.execution(key);
  }

  /** Newest first. */
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

  async #unfinished(): Promise<readonly Claimed<ExecutionRow>[]> {
    // Once: later, another execution may be writing a file that no row names yet.
    this.#swept ??= this.#options.storedData.sweep();
    await this.#swept;
    return claimAll((limit) => this.#options.store.claim(limit), this.#patience);
  }

  async #resume({ row, held }: Claimed<ExecutionRow>): Promise<undefined> {
    const principal = this.#options.principalNamed(row.owner);
    if (principal === undefined) await this.#endAtOnce(row, held, failure('forbidden', {}, 'Its owner is gone.'));
    else this.#start(new LiveExecution(row, principal, Promise.resolve({ repeat: false, held })));
  }

  #live(key: ExecutionKey): LiveExecution | undefined {
    const name = executionName(key);
    return this.#options.runs.get(LiveExecution, name) ?? this.#parked.get(name)?.live;
  }

  #start(live: LiveExecution, planned?: Planned, place?: RunPlace): LiveExecution {
    let parked: ParkedExecution | undefined;
    const work = async () => {
      parked = await this.#work(live, planned);
      // Found by its name without a gap.
      if (parked !== undefined) this.#parked.set(live.name, parked);
    };
    const done = this.#options.runs.start(live, work, { name: live.name, place });
    void done.then(() => parked && this.#park(parked));
    return live;
  }

  /** Waits for the end of the question, however long that takes, and continues then. */
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
    if (live.withdrawn === LOST) await this.#followLost(live);
    else if (runs.isClosed('execution') || live.withdrawn === SUSPENDED) {
      live.fail(new Refused(failure('interrupted', { retry_after: 5 })));
    } else this.#start(live);
  }

  /** Lets a run ask a person: as long as there is no answer, the run stops. */
  #asking(live: LiveExecution, running: Ending): AskPerson {
    return {
      made: (given) => this.#options.questions.made(given),
      ask: async (pending, settled) => {
        const { operationId, key, question, end } = pending;
        live.tell({ event: 'question-asked', operationId, key, question });
        const resolved = (result: QuestionEnd) =>
          live.tell({ event: 'question-resolved', operationId, key, end: result });
        if (end?.answer !== undefined) {
          resolved(end);
          return end.answer;
        }
        if (live.withdrawn !== undefined) {
          resolved({ question_id: question.question_id, state: 'withdrawn' });
          live.end(live.withdrawn);
          throw live.withdrawn;
        }
        // Effects in progress may finish: if they were ended now, their outcome would be unknown.
        await settled();
        running.end(new WaitsForPerson(pending));
        return new Promise<never>(() => {});
      },
    };
  }

  async #work(live: LiveExecution, planned: Planned | undefined): Promise<ParkedExecution | undefined> {
    const { log, clock, runs } = this.#options;
    let isLogged = false;
    try {
      if (live.slot === undefined) await this.#turn(live);
      for (let isFirst = planned !== undefined; ; isFirst = false) {
        try {
          return await this.#run(live, planned ?? (await this.#planAgain(live)), isFirst);
        } catch (error) {
          // Nothing could be recorded, so nothing was done or reported since: it continues from its record, if there is one.
          const isOver = failureOf(error)?.code !== 'store_unavailable' || runs.isClosed('execution');
          if (isOver || !(await isRecorded(live))) throw error;
          if (!isLogged) {
            const fields = { execution_id: live.row.executionId, error: String(error) };
            log.warn(fields, 'an execution could not be recorded yet');
            isLogged = true;
          }
          await clock.wait(STORE_PAUSE_MS, live.signal);
        }
      }
    } catch (error) {
      if (error === LOST || isNotHeld(error)) {
        log.warn({ execution_id: live.row.executionId }, 'another process runs an execution that ran here');
        void this.#followLost(live);
        return undefined;
      }
      if (error === SUSPENDED) await this.#late.now(live).catch(() => {});
      else if (!(error instanceof Refused))
        log.error({ execution_id: live.row.executionId, error: String(error) }, 'an execution could not be ended');
      live.fail(error === SUSPENDED ? new Refused(failure('interrupted', { retry_after: 5 })) : error);
      return undefined;
    }
  }

  /** One that was cancelled while it waited needs no slot to end in. */
  async #turn(live: LiveExecution): Promise<void> {
    try {
      await this.#options.runs.turn(live, { lane: LANE, principal: live.principal, priority: 0 });
    } catch (error) {
      if (error === SUSPENDED || error === LOST) throw error;
    }
  }

  /** Records for the operator which credential would have been sent where. */
  #noteRefused({ workflow }: ParsedRequest, findings: readonly Finding[], { id: caller }: Principal): void {
    const { planner, noteRefusal } = this.#options;
    for (const { id, to, operationId } of refusedCredentials(workflow, findings, planner.own)) {
      noteRefusal(id, { caller, to, purpose: operationId });
    }
  }

  async #planAgain(live: LiveExecution): Promise<Planned | Failure> {
    const { row, principal } = live;
    const { reader, planner } = this.#options;
    const { body, by } = recordedRequest(row.request);
    live.requestId = by.requestId;
    const read = reader.read(body);
    if (!read.ok) return failure('internal', {}, 'The record from before the restart can no longer be read.');
    const outcome = await planner.compile(read.request, principal);
    return outcome.ok ? { request: read.request, plan: outcome.plan, hops: by.hops ?? 0 } : refusalOf(outcome.findings);
  }

  /** Runs it to its end, or to a question to a person. */
  async #run(live: LiveExecution, planned: Planned | Failure, isFirst: boolean): Promise<ParkedExecution | undefined> {
    const { store, clock, planner, calls, storedData, askTarget, redactorFor, limits, run } = this.#options;
    if (!('plan' in planned)) {
      await this.#end(live, failedRun(errorOf(planned)));
      return undefined;
    }
    const { request, plan, hops } = planned;
    const { row, principal } = live;
    const journal = new EffectJournal({
      key: row,
      store,
      recorded: isFirst ? [] : await store.effects(row),
      hold: () => this.#late.hold(live),
    });
    const secrets = new UsedSecrets(redactorFor);
    live.begin(journal, secrets);
    // Excludes the time in which it waited for a person.
    const timeoutMs = Math.max(1, planner.timeoutOf(request) - live.spentMs);
    const startedAt = clock.elapsed();
    const running = new Ending();
    const leave = running.follow(live);
    const context = { principal, signal: running, deadline: startedAt + timeoutMs, hops };
    const askPerson = this.#asking(live, running);
    const effects = new JournaledEffects({ journal, calls, storedData, askTarget, askPerson, context, secrets, clock });
    const ended = await run(plan, {
      effects,
      timeoutMs,
      signal: running,
      caller: limits.cache_seconds > 0 ? principal.id : undefined,
      budgets: this.#budgets,
      onError: request.options.onError ?? 'stop',
      // Operations that end because it is run again have not ended.
      onProgress: (progress) => runsAgain(running.reason) || live.tell(progress),
    });
    leave();
    if (live.reason === SUSPENDED || live.reason === LOST) throw live.reason;
    if (running.reason instanceof WaitsForPerson) {
      live.spentMs += clock.elapsed() - startedAt;
      return new ParkedExecution(live, running.reason.pending, async (effect) =>
        store.append(await this.#late.hold(live), [journal.place(effect)]),
      );
    }
    // An effect that could not be recorded does not count.
    await journal.settle();
    const { status, results, skipped, errors } = ended;
    const warnings = [...request.warnings, ...plan.warnings];
    await this.#end(live, { status, results, skipped, errors, warnings }, secrets);
    // Effects that are still in progress are no longer needed.
    if (effects.isWaiting) live.end(OVER);
    return undefined;
  }

  /** Answers that are not written yet need not be: the result contains them, and the journal is not read again. */
  async #end(live: LiveExecution, run: EndedRun, secrets?: UsedSecrets): Promise<void> {
    const endedAt = this.#options.clock.now().getTime();
    const text = resultText(live.row, run, endedAt);
    const result = secrets?.isAny === true ? await secrets.redacted(text) : text;
    const earlier = await this.#late.end(live, { status: run.status, result, events: live.close(), endedAt });
    if (earlier === undefined) {
      this.#options.runs.counts.finish('execution', outcomeOf(run.status));
      live.finish(run.status, result);
    } else if (earlier.digest !== live.row.digest) throw new Refused(conflictWith(earlier));
    else if (earlier.end === null) refuse('busy', { retry_after: 5 }, CANNOT_CONTINUE);
    else {
      live.replayedFrom = earlier.acceptedAt;
      live.finish(earlier.end.status, earlier.end.result);
    }
  }

  async #endAtOnce(row: ExecutionRow, held: Held, why: Failure): Promise<void> {
    const endedAt = this.#options.clock.now().getTime();
    const end = { status: 'error', result: resultText(row, failedRun(errorOf(why)), endedAt), events: '[]', endedAt };
    await patiently(() => this.#options.store.finish(held, [], end), this.#patience);
  }

  /** A caller that looks up a running execution must find it recorded. */
  async #ensure(key: ExecutionKey): Promise<void> {
    const live = this.#live(key);
    if (live !== undefined) await this.#late.now(live);
  }

  /** Its readers receive what the process that runs it records. */
  async #followLost(live: LiveExecution): Promise<void> {
    try {
      const row = await this.#endOf(live.row);
      live.finishElsewhere(row, row.end);
    } catch (error) {
      live.fail(error);
    }
  }

  /** Its record, when another process has ended it. */
  async #endOf(key: ExecutionKey, signal?: StopSignal): Promise<EndedExecution> {
    const { store, clock, runs } = this.#options;
    for (;;) {
      if (signal?.aborted === true) throw signal.reason;
      const row = await store.find(key);
      if (row === undefined) refuse('not_found', {}, 'The execution was removed.');
      if (row.end !== null) return { ...row, end: row.end };
      await clock.wait(LOOK_MS, runs.stopped.signal).catch(() => {
        throw new Refused(failure('interrupted', { retry_after: 5 }));
      });
    }
  }

  /** The events of an execution that another node runs, from that node; the rest from its record. */
  async *#remoteEvents(
    row: ExecutionRow,
    elsewhere: ExecutionsElsewhere,
    after: number,
    signal?: StopSignal,
  ): AsyncGenerator<ExecutionEventRecord, void, undefined> {
    let last = after;
    let isOver = false;
    const over = () => {
      isOver = true;
      return [];
    };
    const ended = this.#endOf(row, signal);
    const end = ended.then(over, over);
    while (!isOver) {
      const live = this.#live(row);
      // This node has taken it over meanwhile.
      if (live !== undefined) return yield* live.read(last);
      for (const event of await Promise.race([elsewhere.eventsAfter(row, last), end])) {
        yield event;
        last = event.sequence;
      }
    }
    if (signal?.aborted !== true) yield* pastEvents(await ended, last);
  }

  /** The one that runs, or the record of the one that has ended. */
  async #follow(row: ExecutionRow): Promise<StartedExecution> {
    if (row.end !== null) return finishedExecution(row, row.end.result);
    const live = this.#live(row);
    if (live !== undefined) return runningExecution(live);
    // It ended while we looked.
    const now = await this.#options.store.find(row);
    const elsewhere = this.#elsewhere;
    if (now?.end === null && elsewhere !== undefined) {
      const events: StartedExecution['events'] = (after, signal) => this.#remoteEvents(now, elsewhere, after, signal);
      return remoteExecution(now, { endOf: () => this.#endOf(now), events });
    }
    if (now === undefined || now.end === null) refuse('busy', { retry_after: 5 }, CANNOT_CONTINUE);
    return finishedExecution(now, now.end.result);
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
  /** It runs only if its plan has this hash. */
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

interface Planned {
  readonly request: ParsedRequest;
  readonly plan: Plan;
  readonly hops: number;
}

function conflictWith({ executionId }: ExecutionRow): Failure {
  return failure(
    'conflict',
    { execution_id: executionId, suggestions: ['choose another executionId', 'or send the same workflow again'] },
    `The execution ${executionId} was already used with another workflow or other options.`,
  );
}

function errorOf({ code, message, details }: Failure): WorkflowError {
  const { suggestions, ...others } = details;
  const all = suggestions ?? (others.issues ?? []).flatMap(({ suggestion }) => suggestion ?? []);
  return withCategory({
    type: FAILURES[code].workflow as WorkflowError['type'],
    message,
    details: { code, ...plain(others) },
    ...(all.length > 0 && { suggestions: [...all] }),
  });
}

/** The details as plain JSON. */
function plain(details: Failure['details']) {
  return JSON.parse(JSON.stringify(details));
}

/** Whether the execution is run again after it stopped for this reason. */
function runsAgain(reason: unknown): boolean {
  return reason === SUSPENDED || reason === LOST || reason instanceof WaitsForPerson;
}

/** Whether it has a record to continue from. */
function isRecorded({ recording }: LiveExecution): Promise<boolean> {
  return recording === undefined ? Promise.resolve(false) : recording.then(({ repeat }) => !repeat).catch(() => false);
}

/** As the metrics count it. */
function outcomeOf(status: EndedRun['status']): string {
  if (status === 'success') return SUCCEEDED;
  return status === 'cancelled' || status === 'timeout' ? outcomeOfFailure(failure(status)) : FAILED;
}

/** One lane for all executions. No agent can have this id. */
const LANE = '*executions';
const STORE_PAUSE_MS = 5000;
/** How often to check whether an execution continues. */
const CONTINUED_PAUSE_MS = 50;
/** How long another node waits for an event: less than it waits for an answer. */
const EVENTS_WITHIN_MS = 2000;
const EVENTS_PAUSE_MS = 50;
/** Events in one answer to another node. */
const MOST_EVENTS = 500;
/** Between two looks for the end of an execution that another node runs. */
const LOOK_MS = 200;
const CANNOT_CONTINUE = 'The execution cannot continue at the moment.';
const OVER = new Error('the execution is over');
