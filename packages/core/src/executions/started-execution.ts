import type { StopSignal } from '../ending/ending.ts';
import type { ExecutionEnd, ExecutionRow } from '../store/executions.ts';
import type { LongText } from '../text/long-text.ts';
import { type ExecutionEventRecord, type LiveExecution, pastEvents } from './live-execution.ts';

/** An execution that was started: its result and its events. */
export interface StartedExecution {
  readonly row: ExecutionRow;
  /** The number of events so far, including the final one. */
  readonly eventCount: number;
  /** When it was first requested, where this is a repeat. Of an execution that is recorded late this is known with its result. */
  replayedFrom(): number | undefined;
  /** Its result as JSON text, as soon as that is recorded. */
  result(): Promise<string | LongText>;
  /** Resolves when it waits for the answer of a person. */
  parked(): Promise<void>;
  /** The events after a number, to the final one. The signal tells when the reader leaves. */
  events(after: number, signal?: StopSignal): AsyncIterable<ExecutionEventRecord>;
}

/** An execution that runs in this process. */
export function runningExecution(live: LiveExecution): StartedExecution {
  return {
    row: live.row,
    eventCount: live.eventCount,
    result: () => live.ended,
    parked: () => live.whenParked(),
    events: (after) => live.read(after),
    replayedFrom: () => live.replayedFrom,
  };
}

/** An execution that has ended. */
export type EndedExecution = ExecutionRow & { readonly end: ExecutionEnd };

/** An execution that another node runs. */
export function remoteExecution(
  row: ExecutionRow,
  { endOf, events }: { readonly endOf: () => Promise<EndedExecution>; readonly events: StartedExecution['events'] },
): StartedExecution {
  return {
    row,
    eventCount: 0,
    replayedFrom: () => undefined,
    result: async () => (await endOf()).end.result,
    parked: () => new Promise(() => {}),
    events,
  };
}

/** An execution that has ended, from its record. */
export function finishedExecution(row: ExecutionRow, result: string | LongText): StartedExecution {
  return {
    row,
    eventCount: Number.POSITIVE_INFINITY,
    replayedFrom: () => undefined,
    result: async () => result,
    parked: () => new Promise(() => {}),
    events: (after) => pastEvents(row, after),
  };
}
