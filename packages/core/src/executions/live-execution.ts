import type { Principal } from '../principal.ts';
import type { ExecutionAccepted, ExecutionKey, ExecutionRow } from '../store/executions.ts';
import type { Progress } from '../workflow/effects.ts';
import type { EffectJournal } from './effect-journal.ts';

/** One thing told about an execution, with its number, by which a reader resumes. JSON text of one line. */
export interface ExecutionEvent {
  readonly sequence: number;
  readonly event: Progress['event'] | 'execution-finished';
  readonly data: string;
}

/** An execution that runs in this process, and what it has told so far. */
export class LiveExecution {
  readonly row: ExecutionRow;
  readonly principal: Principal;
  readonly controller = new AbortController();
  /** Its result as JSON text, once that is on the disk. Rejects where it could not be recorded. */
  readonly ended: Promise<string>;
  /** Whether it is on the disk, or on the way there; `undefined` while nobody needs it to be. */
  recording: Promise<ExecutionAccepted> | undefined;
  #journal: EffectJournal | undefined;
  /** Written out only when somebody reads them: most executions nobody watches. */
  #events: Told[] = [];
  #end: ExecutionEvent | undefined;
  #broken: unknown;
  #wake: (() => void)[] = [];
  #resolve: (result: string) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(row: ExecutionRow, principal: Principal, recording?: Promise<ExecutionAccepted>) {
    this.row = row;
    this.principal = principal;
    this.recording = recording;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Nobody may be waiting for it.
    this.ended.catch(() => {});
  }

  /** Its name among all executions. */
  get name(): string {
    return nameOf(this.row);
  }

  /** It runs, from the beginning: what an earlier run told is told again, with the same numbers. */
  begin(journal: EffectJournal): void {
    this.#journal = journal;
    this.#events = [];
  }

  tell(progress: Progress): void {
    const sequence = this.#events.length;
    this.#events.push(toldOf(sequence, this.row.executionId, progress));
    if (this.#wake.length > 0) this.#wakeReaders();
  }

  /** What was told, as it is recorded with the end. */
  get told(): string {
    return JSON.stringify(this.#events);
  }

  finish(status: string, result: string): void {
    this.#end = endEvent(this.#events.length, this.row.executionId, status, result);
    this.#resolve(result);
    this.#wakeReaders();
  }

  fail(error: unknown): void {
    this.#broken = error;
    this.#reject(error);
    this.#wakeReaders();
  }

  /** Everything told after a number, to the end. What an effect led to is told when that effect is on the disk. */
  async *read(after: number): AsyncGenerator<ExecutionEvent, void, undefined> {
    let next = after + 1;
    for (;;) {
      if (next < this.#events.length) {
        await this.#journal?.flush();
        for (const event of this.#events.slice(next)) {
          yield eventOf(event);
          next = event.sequence + 1;
        }
      } else if (this.#end !== undefined) {
        if (next <= this.#end.sequence) yield this.#end;
        return;
      } else if (this.#broken !== undefined) {
        throw this.#broken;
      } else {
        await new Promise<void>((resolve) => this.#wake.push(resolve));
      }
    }
  }

  #wakeReaders(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const reader of wake) reader();
  }
}

/** What one that has ended told, read back. */
export function* pastEvents(row: ExecutionRow, after: number): Generator<ExecutionEvent> {
  if (row.end === null) return;
  const told = JSON.parse(row.end.events) as readonly Told[];
  for (const event of told) if (event.sequence > after) yield eventOf(event);
  if (told.length > after) yield endEvent(told.length, row.executionId, row.end.status, row.end.result);
}

/** One name for an execution among those of everybody. */
export function nameOf({ owner, executionId }: ExecutionKey): string {
  // An agent id has no line break in it.
  return `${owner}\n${executionId}`;
}

/** What is told of an operation, as it is on the wire. */
interface Told {
  readonly sequence: number;
  readonly event: Progress['event'];
  readonly execution_id: string;
  readonly operationId: string;
  readonly key?: string;
  readonly status?: string;
  readonly duration_ms?: number;
}

function toldOf(sequence: number, executionId: string, progress: Progress): Told {
  const { event, operationId, key } = progress;
  const place: Told = {
    sequence,
    event,
    execution_id: executionId,
    operationId,
    ...(key !== operationId && { key }),
  };
  if (progress.event === 'operation-started') return place;
  return { ...place, status: progress.status, duration_ms: Math.round(progress.milliseconds * 1000) / 1000 };
}

function eventOf(told: Told): ExecutionEvent {
  return { sequence: told.sequence, event: told.event, data: JSON.stringify(told) };
}

function endEvent(sequence: number, executionId: string, status: string, result: string): ExecutionEvent {
  const event = 'execution-finished';
  const head = JSON.stringify({ sequence, event, execution_id: executionId, status });
  return { sequence, event, data: `${head.slice(0, -1)},"result":${result}}` };
}
