import type { StopSignal } from '../ending/ending.ts';
import type { ExecutionEnd, ExecutionRow } from '../store/executions.ts';
import type { LongText } from '../text/long-text.ts';
import { type ExecutionEventRecord, type LiveExecution, pastEvents } from './live-execution.ts';

/** An execution that was asked for: its answer, and what is told on the way. */
export interface Begun {
  readonly row: ExecutionRow;
  /** How many events there are by now, the end included. */
  readonly told: number;
  /** When it was first asked for, where this is a repeat; of one that is recorded late, known with its result. */
  replayedFrom(): number | undefined;
  /** How it ended, as JSON text, as soon as that is recorded. */
  result(): Promise<string | LongText>;
  /** Resolves when it waits for a person. */
  parked(): Promise<void>;
  /** What is told after a number, to the end. The signal tells when the reader leaves. */
  events(after: number, signal?: StopSignal): AsyncIterable<ExecutionEventRecord>;
}

/** One that runs. */
export function begunNow(live: LiveExecution): Begun {
  return {
    row: live.row,
    told: live.told,
    result: () => live.ended,
    parked: () => live.whenParked(),
    events: (after) => live.read(after),
    replayedFrom: () => live.replayedFrom,
  };
}

/** An execution that has ended. */
export type EndedExecution = ExecutionRow & { readonly end: ExecutionEnd };

/** One that another node runs. */
export function begunElsewhere(
  row: ExecutionRow,
  { endOf, events }: { readonly endOf: () => Promise<EndedExecution>; readonly events: Begun['events'] },
): Begun {
  return {
    row,
    told: 0,
    replayedFrom: () => undefined,
    result: async () => (await endOf()).end.result,
    parked: () => new Promise(() => {}),
    events,
  };
}

/** One that has ended, from its record. */
export function begunBefore(row: ExecutionRow, result: string | LongText): Begun {
  return {
    row,
    told: Number.POSITIVE_INFINITY,
    replayedFrom: () => undefined,
    result: async () => result,
    parked: () => new Promise(() => {}),
    events: (after) => pastEvents(row, after),
  };
}
