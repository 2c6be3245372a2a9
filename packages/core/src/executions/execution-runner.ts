import { FAILURES, type Failure, failure, type QuestionEnd } from '@dragoman/protocols';
import { type WorkflowError, withCategory } from '@dragoman/protocols/a2e-workflow';
import { Ending } from '../ending/ending.ts';
import type { HostPort } from '../gate/host-port.ts';
import type { Redactor } from '../gate/redactor.ts';
import type { Clock, Log } from '../ports/ports.ts';
import type { OpenQuestions } from '../questions/open-questions.ts';
import { failureOf, Refused, refuse } from '../refusals/refused.ts';
import { LOST } from '../runs/active-run.ts';
import { FAILED, outcomeOfFailure, SUCCEEDED } from '../runs/run-counts.ts';
import type { RunTable } from '../runs/run-table.ts';
import type { ExecutionRow, ExecutionStore } from '../store/executions.ts';
import { isNotHeld } from '../store/held.ts';
import type { Plan } from '../workflow/plan.ts';
import type { PoolRunOptions } from '../workflow/pool.ts';
import type { PoolResult } from '../workflow/pool-messages.ts';
import type { ApiCalls } from './api-calls.ts';
import { EffectJournal } from './effect-journal.ts';
import { JournaledEffects } from './journaled-effects.ts';
import type { LateRecords } from './late-records.ts';
import type { WorkflowLimits } from './limits.ts';
import { type LiveExecution, SUSPENDED } from './live-execution.ts';
import { type AskPerson, ParkedExecution, WaitsForPerson } from './parked-execution.ts';
import { type Planner, refusalOf } from './planner.ts';
import { type EndedRun, failedRun, resultText } from './result.ts';
import type { StoredData } from './stored-data.ts';
import type { AskTarget } from './target-asks.ts';
import { UsedSecrets } from './used-secrets.ts';
import { type ParsedRequest, recordedRequest, type WorkflowRequestReader } from './workflow-request.ts';

export interface ExecutionRunnerOptions {
  /** Every run of this process. */
  readonly runs: RunTable;
  readonly store: ExecutionStore;
  readonly reader: WorkflowRequestReader;
  readonly planner: Planner;
  readonly calls: ApiCalls;
  readonly storedData: StoredData;
  readonly askTarget: AskTarget;
  /** The open questions to people. */
  readonly questions: Pick<OpenQuestions, 'made' | 'open'>;
  /** Finds the secrets that a host could have been sent. */
  readonly redactorFor: (host: HostPort) => Redactor | undefined;
  /** Runs a plan to its end. */
  readonly run: (plan: Plan, options: PoolRunOptions) => Promise<PoolResult>;
  readonly limits: WorkflowLimits;
  readonly clock: Clock;
  readonly log: Log;
}

/** A workflow that is ready to run. */
export interface Planned {
  readonly request: ParsedRequest;
  readonly plan: Plan;
  readonly hops: number;
}

/** Runs executions: each from its wait for a slot to its recorded end, or to a question to a person. */
export class ExecutionRunner {
  readonly #options: ExecutionRunnerOptions;
  readonly #late: LateRecords;
  readonly #onLost: (live: LiveExecution) => void;

  /** `onLost` is called for an execution that another process has taken over. */
  constructor(options: ExecutionRunnerOptions, late: LateRecords, onLost: (live: LiveExecution) => void) {
    this.#options = options;
    this.#late = late;
    this.#onLost = onLost;
  }

  /**
   * Runs one execution. Returns it parked if it waits for a person, and `undefined` if it is over in this process.
   * Without `planned`, it continues from its record.
   */
  async work(live: LiveExecution, planned: Planned | undefined): Promise<ParkedExecution | undefined> {
    const { log, clock, runs } = this.#options;
    let isLogged = false;
    try {
      if (live.slot === undefined) await this.#turn(live);
      for (let isFirst = planned !== undefined; ; isFirst = false) {
        try {
          return await this.#run(live, planned ?? (await this.#planAgain(live)), isFirst);
        } catch (error) {
          // The store failed, so nothing was done or reported since the last write: the execution is run again from its
          // record, if it has one.
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
        this.#onLost(live);
        return undefined;
      }
      if (error === SUSPENDED) await this.#late.now(live).catch(() => {});
      else if (!(error instanceof Refused))
        log.error({ execution_id: live.row.executionId, error: String(error) }, 'an execution could not be ended');
      live.fail(error === SUSPENDED ? new Refused(failure('interrupted', { retry_after: 5 })) : error);
      return undefined;
    }
  }

  /**
   * Waits for a slot. An execution that was cancelled meanwhile continues without one: it only has to record its end.
   */
  async #turn(live: LiveExecution): Promise<void> {
    try {
      await this.#options.runs.turn(live, { lane: LANE, principal: live.principal, priority: 0 });
    } catch (error) {
      if (error === SUSPENDED || error === LOST) throw error;
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

  /** Runs an execution to its end, or to a question to a person. */
  async #run(live: LiveExecution, planned: Planned | Failure, isFirst: boolean): Promise<ParkedExecution | undefined> {
    const { store, clock, planner, calls, storedData, askTarget, redactorFor, limits, run } = this.#options;
    if (!('plan' in planned)) {
      await this.#end(live, failedRun(executionError(planned)));
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
    // The time spent waiting for a person does not count.
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
      budgets: {
        steps: limits.max_steps,
        apiCalls: limits.max_api_calls,
        dataBytes: limits.max_data_bytes,
        iterations: limits.max_iterations,
      },
      onError: request.options.onError ?? 'stop',
      // Operations that stop because the execution will be run again have not finished, so they emit nothing.
      onProgress: (progress) => runsAgain(running.reason) || live.emit(progress),
    });
    leave();
    if (live.reason === SUSPENDED || live.reason === LOST) throw live.reason;
    if (running.reason instanceof WaitsForPerson) {
      live.spentMs += clock.elapsed() - startedAt;
      return new ParkedExecution(live, running.reason.pending, async (effect) =>
        store.append(await this.#late.hold(live), [journal.place(effect)]),
      );
    }
    // Throws if a write failed: an effect that could not be recorded does not count.
    await journal.settle();
    const { status, results, skipped, errors } = ended;
    const warnings = [...request.warnings, ...plan.warnings];
    await this.#end(live, { status, results, skipped, errors, warnings }, secrets);
    // Effects that are still in progress are no longer needed.
    if (effects.isWaiting) live.end(OVER);
    return undefined;
  }

  /** How an execution asks a person: the run stops, and is repeated once the question has ended. */
  #asking(live: LiveExecution, running: Ending): AskPerson {
    return {
      made: (given) => this.#options.questions.made(given),
      ask: async (pending, settled) => {
        const { operationId, key, question, end } = pending;
        live.emit({ event: 'question-asked', operationId, key, question });
        const resolved = (result: QuestionEnd) =>
          live.emit({ event: 'question-resolved', operationId, key, end: result });
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

  /**
   * Records the end. Effects that are still in memory need not be written: the result contains their consequences, and
   * an ended execution is not run again.
   */
  async #end(live: LiveExecution, run: EndedRun, secrets?: UsedSecrets): Promise<void> {
    const endedAt = this.#options.clock.now().getTime();
    const text = resultText(live.row, run, endedAt);
    const result = secrets?.isAny === true ? await secrets.redacted(text) : text;
    const earlier = await this.#late.end(live, { status: run.status, result, events: live.close(), endedAt });
    if (earlier === undefined) {
      this.#options.runs.counts.finish('execution', outcomeOf(run.status));
      live.finish(run.status, result);
    } else if (earlier.digest !== live.row.digest) throw new Refused(executionConflict(earlier));
    else if (earlier.end === null) refuse('busy', { retry_after: 5 }, CANNOT_CONTINUE);
    else {
      live.replayedFrom = earlier.acceptedAt;
      live.finish(earlier.end.status, earlier.end.result);
    }
  }
}

/** The failure when an execution id or idempotency key is used again for another workflow. */
export function executionConflict({ executionId }: ExecutionRow): Failure {
  return failure(
    'conflict',
    { execution_id: executionId, suggestions: ['choose another executionId', 'or send the same workflow again'] },
    `The execution ${executionId} was already used with another workflow or other options.`,
  );
}

/** A failure as the error that ends an execution. */
export function executionError({ code, message, details }: Failure): WorkflowError {
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

/** Whether the execution has a record to continue from. */
function isRecorded({ recording }: LiveExecution): Promise<boolean> {
  return recording === undefined ? Promise.resolve(false) : recording.then(({ repeat }) => !repeat).catch(() => false);
}

/** The outcome that the metrics count for a status. */
function outcomeOf(status: EndedRun['status']): string {
  if (status === 'success') return SUCCEEDED;
  return status === 'cancelled' || status === 'timeout' ? outcomeOfFailure(failure(status)) : FAILED;
}

/** One lane for all executions. No agent can have this id. */
export const LANE = '*executions';
const STORE_PAUSE_MS = 5000;
const CANNOT_CONTINUE = 'The execution cannot continue at the moment.';
const OVER = new Error('the execution is over');
