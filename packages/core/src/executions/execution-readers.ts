import { failure } from '@dragoman/protocols';
import { Ending, type StopSignal } from '../ending/ending.ts';
import type { Clock } from '../ports/ports.ts';
import { Refused, refuse } from '../refusals/refused.ts';
import type { RunTable } from '../runs/run-table.ts';
import type { ExecutionKey, ExecutionRow, ExecutionStore } from '../store/executions.ts';
import type { ExecutionsElsewhere, WaitOptions } from './elsewhere.ts';
import { type ExecutionEventRecord, type LiveExecution, pastEvents } from './live-execution.ts';
import {
  type EndedExecution,
  type ExecutionReader,
  finishedExecution,
  remoteExecution,
  runningExecution,
  type StartedExecution,
} from './started-execution.ts';

export interface ExecutionReadersOptions {
  readonly store: Pick<ExecutionStore, 'find'>;
  readonly runs: Pick<RunTable, 'stopped'>;
  /** Finds an execution that runs in this process. */
  readonly live: (key: ExecutionKey) => LiveExecution | undefined;
  readonly clock: Clock;
}

/** Reads executions wherever they run: in this process, on another node, or not any more. */
export class ExecutionReaders {
  readonly #options: ExecutionReadersOptions;
  #elsewhere: ExecutionsElsewhere | undefined;

  constructor(options: ExecutionReadersOptions) {
    this.#options = options;
  }

  /** Absent where one process owns the store. */
  get elsewhere(): ExecutionsElsewhere | undefined {
    return this.#elsewhere;
  }

  /** From now on executions of other nodes can be read, too. */
  join(elsewhere: ExecutionsElsewhere): void {
    this.#elsewhere = elsewhere;
  }

  /** Follows an execution where it runs, or from its record if it has ended. */
  async follow(row: ExecutionRow): Promise<StartedExecution> {
    if (row.end !== null) return finishedExecution(row, row.end.result);
    const live = this.#options.live(row);
    if (live !== undefined) return runningExecution(live);
    // The execution may have ended since the row was read.
    const now = await this.#options.store.find(row);
    const elsewhere = this.#elsewhere;
    if (now?.end === null && elsewhere !== undefined) {
      return remoteExecution(now, {
        endOf: () => this.#endOf(now),
        resultUnlessParked: (reader) => this.#remoteResult(now, elsewhere, reader),
        events: (after, signal) => this.#remoteEvents(now, elsewhere, after, signal),
        eventsSoFar: (after) => remoteEventsSoFar(now, elsewhere, after),
      });
    }
    if (now === undefined || now.end === null) refuse('busy', { retry_after: 5 }, CANNOT_CONTINUE);
    return finishedExecution(now, now.end.result);
  }

  /**
   * Follows an execution that an earlier process recorded, once it continues or has ended. `undefined` when it does not
   * exist.
   */
  async continued(key: ExecutionKey, signal: AbortSignal): Promise<StartedExecution | undefined> {
    const { store, clock, live } = this.#options;
    for (;;) {
      const row = await store.find(key);
      if (row === undefined) return undefined;
      // After a node died, its execution and this request may have been taken over by different nodes.
      const isRunning = live(row) !== undefined || (await this.#elsewhere?.isRunning(row)) === true;
      if (row.end !== null || isRunning) return this.follow(row);
      await clock.wait(CONTINUED_PAUSE_MS, signal);
    }
  }

  /**
   * For an execution that another process took over: its readers here receive the end that the other process records.
   */
  async followLost(live: LiveExecution): Promise<void> {
    try {
      const row = await this.#endOf(live.row);
      live.finishElsewhere(row, row.end);
    } catch (error) {
      live.fail(error);
    }
  }

  /**
   * For another node: the events of an execution after a number, without the final one. Empty if none occurred within
   * some seconds; `undefined` when the execution does not run here.
   */
  async eventsHere(
    key: ExecutionKey,
    after: number,
    { waits = true }: WaitOptions = {},
  ): Promise<readonly ExecutionEventRecord[] | undefined> {
    const { clock, live: find } = this.#options;
    const live = find(key);
    if (live === undefined) return undefined;
    const until = clock.elapsed() + (waits ? EVENTS_WITHIN_MS : 0);
    while (live.eventCount <= after + 1 && find(key) === live && clock.elapsed() < until)
      await clock.wait(EVENTS_PAUSE_MS);
    const events: ExecutionEventRecord[] = [];
    for await (const event of live.readSoFar(after)) {
      if (event.event === 'execution-finished' || events.push(event) >= MOST_EVENTS) break;
    }
    return events;
  }

  /** For another node: whether an execution waits for a person, or begins to within some seconds. */
  async isParkedHere(key: ExecutionKey): Promise<boolean> {
    const { clock, live: find } = this.#options;
    const live = find(key);
    const until = clock.elapsed() + EVENTS_WITHIN_MS;
    while (live !== undefined && !live.isParked && find(key) === live && clock.elapsed() < until)
      await clock.wait(EVENTS_PAUSE_MS);
    return live?.isParked === true;
  }

  /** Resolves with the record of an execution once another process has ended it. */
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

  /** The result of an execution on another node; `undefined` when it waits for a person there. */
  async #remoteResult(row: ExecutionRow, elsewhere: ExecutionsElsewhere, { signal }: ExecutionReader) {
    const over = Ending.of(signal);
    const result = this.#endOf(row, over).then(({ end }) => end.result);
    const parked = this.#remoteParked(row, elsewhere, over).then(() => undefined);
    try {
      return await Promise.race([result, parked]);
    } catch (error) {
      if (signal.aborted) refuse('cancelled', {}, 'The reader has left.');
      throw error;
    } finally {
      over.end(OVER);
    }
  }

  /** Resolves when an execution on another node waits for a person; never, if it ends first. */
  async #remoteParked(row: ExecutionRow, elsewhere: ExecutionsElsewhere, over: StopSignal): Promise<void> {
    const { store, runs } = this.#options;
    while (!over.aborted && !runs.stopped.aborted) {
      const live = this.#options.live(row);
      // This node has taken over the execution meanwhile.
      if (live !== undefined) return live.whenParked();
      if (await elsewhere.isParked(row)) return;
      if ((await store.find(row))?.end !== null) break;
    }
    return new Promise(() => {});
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
      const live = this.#options.live(row);
      // This node has taken over the execution meanwhile.
      if (live !== undefined) return yield* live.read(last);
      for (const event of await Promise.race([elsewhere.eventsAfter(row, last), end])) {
        yield event;
        last = event.sequence;
      }
    }
    if (signal?.aborted !== true) yield* pastEvents(await ended, last);
  }
}

async function* remoteEventsSoFar(
  row: ExecutionRow,
  elsewhere: ExecutionsElsewhere,
  after: number,
): AsyncGenerator<ExecutionEventRecord, void, undefined> {
  for (let last = after; ; ) {
    const events = await elsewhere.eventsAfter(row, last, { waits: false });
    yield* events;
    const end = events.at(-1);
    if (end === undefined) return;
    last = end.sequence;
  }
}

/** How often to check whether an execution continues. */
const CONTINUED_PAUSE_MS = 50;
/** How long a request of another node waits for an event. Must be shorter than that node's timeout. */
const EVENTS_WITHIN_MS = 2000;
const EVENTS_PAUSE_MS = 50;
/** Maximum number of events in one answer to another node. */
const MOST_EVENTS = 500;
/** The polling interval for the end of an execution on another node. */
const LOOK_MS = 200;
const OVER = new Error('the result is known');
const CANNOT_CONTINUE = 'The execution cannot continue at the moment.';
