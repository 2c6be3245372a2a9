import type { StopSignal } from '../ending/ending.ts';
import type { ExecutionEnd, ExecutionRow } from '../store/executions.ts';
import type { LongText } from '../text/long-text.ts';
import { type ExecutionEventRecord, type LiveExecution, pastEvents } from './live-execution.ts';

/** The caller that waits for an execution. */
export interface ExecutionReader {
  /** Aborts when the caller leaves. May be a getter that creates the signal: read it only where it is needed. */
  readonly signal: AbortSignal;
}

/** An execution that was started: its result and its events. */
export interface StartedExecution {
  readonly row: ExecutionRow;
  /**
   * When the execution was first requested, if this is a repeat. For an execution that is recorded late, this is known
   * only with its result.
   */
  replayedFrom(): number | undefined;
  /** The result as JSON text, once it is recorded. */
  result(): Promise<string | LongText>;
  /** The result, or `undefined` once the execution waits for a person. */
  resultUnlessParked(reader: ExecutionReader): Promise<string | LongText | undefined>;
  /** The events after a number, to the final one. The signal ends when the reader leaves. */
  events(after: number, signal?: StopSignal): AsyncIterable<ExecutionEventRecord>;
  /** The events after a number that have occurred by now. */
  eventsSoFar(after: number): AsyncIterable<ExecutionEventRecord>;
}

/** An execution that runs in this process. */
export function runningExecution(live: LiveExecution): StartedExecution {
  return {
    row: live.row,
    result: () => live.ended,
    resultUnlessParked: () => Promise.race([live.ended, live.whenParked().then(() => undefined)]),
    events: (after) => live.read(after),
    eventsSoFar: (after) => live.readSoFar(after),
    replayedFrom: () => live.replayedFrom,
  };
}

/** An execution that has ended. */
export type EndedExecution = ExecutionRow & { readonly end: ExecutionEnd };

interface RemoteReading extends Pick<StartedExecution, 'resultUnlessParked' | 'events' | 'eventsSoFar'> {
  readonly endOf: () => Promise<EndedExecution>;
}

/** An execution that another node runs. */
export function remoteExecution(row: ExecutionRow, { endOf, ...reading }: RemoteReading): StartedExecution {
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
    resultUnlessParked: async () => result,
    events: (after) => pastEvents(row, after),
    eventsSoFar: (after) => pastEvents(row, after),
  };
}
