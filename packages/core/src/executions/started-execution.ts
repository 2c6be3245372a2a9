import type { StopSignal } from '../ending/ending.ts';
import type { ExecutionEnd, ExecutionRow } from '../store/executions.ts';
import type { LongText } from '../text/long-text.ts';
import { type ExecutionEventRecord, type LiveExecution, pastEvents } from './live-execution.ts';

/** An execution that was started: its result and its events. */
export interface StartedExecution {
  readonly row: ExecutionRow;
  /** When it was first requested, where this is a repeat. Of an execution that is recorded late this is known with its result. */
  replayedFrom(): number | undefined;
  /** Its result as JSON text, as soon as that is recorded. */
  result(): Promise<string | LongText>;
  /** Resolves when it waits for the answer of a person. */
  parked(): Promise<void>;
  /** The events after a number, to the final one. The signal tells when the reader leaves. */
  events(after: number, signal?: StopSignal): AsyncIterable<ExecutionEventRecord>;
  /** The events after a number that have occurred by now. */
  eventsSoFar(after: number): AsyncIterable<ExecutionEventRecord>;
}

/** An execution that runs in this process. */
export function runningExecution(live: LiveExecution): StartedExecution {
  return {
    row: live.row,
    result: () => live.ended,
    parked: () => live.whenParked(),
    events: (after) => live.read(after),
    eventsSoFar: (after) => live.readSoFar(after),
    replayedFrom: () => live.replayedFrom,
  };
}

/** An execution that has ended. */
export type EndedExecution = ExecutionRow & { readonly end: ExecutionEnd };

type RemoteReading = Pick<StartedExecution, 'parked' | 'events' | 'eventsSoFar'>;

/** An execution that another node runs. */
export function remoteExecution(
  row: ExecutionRow,
  { endOf, ...reading }: { readonly endOf: () => Promise<EndedExecution> } & RemoteReading,
): StartedExecution {
  return {
    row,
    replayedFrom: () => undefined,
    result: async () => (await endOf()).end.result,
    ...reading,
  };
}

/** An execution that has ended, from its record. */
export function finishedExecution(row: ExecutionRow, result: string | LongText): StartedExecution {
  return {
    row,
    replayedFrom: () => undefined,
    result: async () => result,
    parked: () => new Promise(() => {}),
    events: (after) => pastEvents(row, after),
    eventsSoFar: (after) => pastEvents(row, after),
  };
}
