import type { Question } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';
import { ActiveRun } from '../runs/active-run.ts';
import type { ExecutionAccepted, ExecutionEnd, ExecutionKey, ExecutionRow } from '../store/executions.ts';
import { type LongText, stringOf } from '../text/long-text.ts';
import type { Progress } from '../workflow/effects.ts';
import type { EffectJournal } from './effect-journal.ts';
import { NO_RESULTS, type ResultsSoFar, runningResult } from './result.ts';
import type { UsedSecrets } from './used-secrets.ts';

/** One event of an execution. `data` is its JSON text; a reader resumes after its `sequence`. */
export interface ExecutionEventRecord {
  readonly sequence: number;
  readonly event: Progress['event'] | 'execution-finished';
  readonly data: string;
}

/** An execution that runs in this process, and its events so far. */
export class LiveExecution extends ActiveRun {
  readonly kind = 'execution';
  readonly row: ExecutionRow;
  /** The name of the execution in the table of runs. */
  readonly name: string;
  readonly principal: Principal;
  /** The result as JSON text, once that is on the disk. Rejects if it could not be recorded. */
  readonly ended: Promise<string | LongText>;
  /** Set once the execution is being recorded; `undefined` as long as that can wait for its end. */
  recording: Promise<ExecutionAccepted> | undefined;
  /** Why the execution must end: set when its wait for a person was ended without an answer. */
  withdrawn: Error | undefined;
  /** How long the execution ran before it waited for a person. */
  spentMs = 0;
  /** The request to the hub that the execution answers, if any. */
  requestId: string | undefined;
  /** When the execution was first requested, if this one turned out to be a repeat. */
  replayedFrom: number | undefined;
  #journal: EffectJournal | undefined;
  #secrets: UsedSecrets | undefined;
  #results: ResultsSoFar = NO_RESULTS;
  /** Progress, turned into event text only when read: most executions have no event readers. */
  #events: Progress[] = [];
  /** The record of the execution, if another process has ended it. */
  #past: ExecutionRow | undefined;
  #end: { readonly status: string; readonly result: string | LongText } | undefined;
  #broken: unknown;
  #closing = false;
  #wake: (() => void)[] = [];
  #onParked: (() => void)[] = [];
  #question: Question | undefined;
  #resolve: (result: string | LongText) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(row: ExecutionRow, principal: Principal, recording?: Promise<ExecutionAccepted>) {
    super();
    this.row = row;
    this.name = executionName(row);
    this.principal = principal;
    this.recording = recording;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The caller need not wait for the result, so a rejection may have no handler.
    this.ended.catch(() => {});
  }

  /** Starts a run from the beginning: the events of an earlier run are repeated with the same numbers. */
  begin(journal: EffectJournal, secrets: UsedSecrets): void {
    this.#journal = journal;
    this.#secrets = secrets;
    this.#results = { values: new Map(), omitted: new Set() };
    this.#events = [];
    this.#closing = false;
  }

  /** Resolves when the execution waits for a person. */
  whenParked(): Promise<void> {
    return this.isParked ? Promise.resolve() : new Promise((resolve) => this.#onParked.push(resolve));
  }

  get isParked(): boolean {
    return this.#question !== undefined;
  }

  /** Sets the question that the execution waits for; `undefined` when the wait is over. */
  park(question: Question | undefined): void {
    this.#question = question;
    if (question === undefined) return;
    for (const parked of this.#onParked.splice(0)) parked();
  }

  emit(progress: Progress): void {
    this.#events.push(this.#withoutValue(progress));
    if (this.#wake.length > 0) this.#wakeReaders();
  }

  /**
   * Moves the value of an event to the results, which keep the last one of each operation, like the result of an ended
   * execution.
   */
  #withoutValue(progress: Progress): Progress {
    if (progress.event !== 'operation-finished' || progress.status !== 'success') return progress;
    const { value, ...event } = progress;
    const { values, omitted } = this.#results;
    if (value === undefined) omitted.add(event.operationId);
    else omitted.delete(event.operationId);
    if (value === undefined) values.delete(event.operationId);
    else values.set(event.operationId, value);
    return event;
  }

  /**
   * The state of the execution as JSON text, without secrets. Waits until the effects whose consequences it shows are
   * on the disk.
   */
  async soFar(): Promise<string> {
    const question = this.#question;
    const running = runningResult(this.row, this.#results);
    const text = JSON.stringify(question === undefined ? running : { ...running, questions: [question] });
    await this.#recorded();
    return this.#secrets?.isAny === true ? this.#secrets.redacted(text) : text;
  }

  /** The number of events so far, including the final one. */
  get eventCount(): number {
    return this.#events.length + (this.#end === undefined ? 0 : 1);
  }

  /** Call it before the end is recorded. Returns the events, to be recorded with the end. */
  close(): string {
    this.#closing = true;
    // The result contains these values, so the memory can be freed.
    this.#results.values.clear();
    const { executionId } = this.row;
    let text = '';
    for (let sequence = 0; sequence < this.#events.length; sequence++) {
      text += `${sequence === 0 ? '' : ','}${dataOf(sequence, executionId, this.#events[sequence] as Progress)}`;
    }
    return `[${text}]`;
  }

  finish(status: string, result: string | LongText): void {
    this.#end = { status, result };
    this.#resolve(result);
    this.#wakeReaders();
  }

  /** Finishes an execution that another process has ended, and whose events are in its record. */
  finishElsewhere(row: ExecutionRow, { status, result }: Pick<ExecutionEnd, 'status' | 'result'>): void {
    this.#past = row;
    this.finish(status, result);
  }

  /** The execution continues after the next start. */
  override interrupt(): void {
    this.end(SUSPENDED);
  }

  fail(error: unknown): void {
    this.#broken = error;
    this.#reject(error);
    this.#wakeReaders();
  }

  /** The events after a number, to the final one. An event is reported once all effects before it are on the disk. */
  async *read(after: number): AsyncGenerator<ExecutionEventRecord, void, undefined> {
    let next = after + 1;
    for (;;) {
      if (this.#past !== undefined) {
        yield* pastEvents(this.#past, next - 1);
        return;
      }
      if (next < this.#events.length) {
        const end = this.#events.length;
        await this.#recorded();
        for (; next < end; next++) {
          const progress = this.#events[next];
          if (progress === undefined) break;
          yield { sequence: next, event: progress.event, data: dataOf(next, this.row.executionId, progress) };
        }
      } else if (this.#end !== undefined) {
        const { status, result } = this.#end;
        if (next > this.#events.length) return;
        yield endEvent(this.#events.length, this.row.executionId, status, await stringOf(result));
        return;
      } else if (this.#broken !== undefined) {
        throw this.#broken;
      } else {
        await new Promise<void>((resolve) => this.#wake.push(resolve));
      }
    }
  }

  /** Resolves when the effects so far are on the disk: by a write of their own, or with the end. */
  async #recorded(): Promise<void> {
    try {
      if (!this.#closing) await this.#journal?.flush();
    } catch (error) {
      if (!this.#closing) throw error;
    }
    if (this.#closing) await this.ended;
  }

  /** The events after a number that have occurred by now. */
  async *readSoFar(after: number): AsyncGenerator<ExecutionEventRecord, void, undefined> {
    let left = this.eventCount - (after + 1);
    if (left <= 0) return;
    for await (const event of this.read(after)) {
      yield event;
      left -= 1;
      if (left === 0) return;
    }
  }

  #wakeReaders(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const reader of wake) reader();
  }
}

/** The recorded events of an execution that has ended. */
export async function* pastEvents(
  row: ExecutionRow,
  after: number,
): AsyncGenerator<ExecutionEventRecord, void, undefined> {
  if (row.end === null) return;
  const events = JSON.parse(row.end.events) as readonly {
    readonly sequence: number;
    readonly event: Progress['event'];
  }[];
  for (const one of events) {
    if (one.sequence > after) yield { sequence: one.sequence, event: one.event, data: JSON.stringify(one) };
  }
  if (events.length <= after) return;
  yield endEvent(events.length, row.executionId, row.end.status, await stringOf(row.end.result));
}

/** The name of an execution in the table of runs. */
export function executionName({ owner, executionId }: ExecutionKey): string {
  // An agent id contains no line break.
  return `execution\n${owner}\n${executionId}`;
}

/** The reason why an execution ends here that continues after the next start. */
export const SUSPENDED = new Error('the server is stopping; the execution continues after the next start');

/** An event of an operation as JSON text. Its ids contain no characters to escape. */
function dataOf(sequence: number, executionId: string, progress: Progress): string {
  const { event, operationId, key } = progress;
  const place = key === operationId ? '' : `,"key":${JSON.stringify(key)}`;
  const head = `{"sequence":${sequence},"event":"${event}","execution_id":"${executionId}","operationId":"${operationId}"${place}`;
  if (progress.event === 'operation-started') return `${head}}`;
  if (progress.event === 'question-asked') return `${head},"question":${JSON.stringify(progress.question)}}`;
  if (progress.event === 'question-resolved') return `${head},"end":${JSON.stringify(progress.end)}}`;
  const duration = Math.round(progress.milliseconds * 1000) / 1000;
  const cached = progress.cached === true ? ',"cached":true' : '';
  const url = progress.url === undefined ? '' : `,"url":${JSON.stringify(progress.url)}`;
  return `${head},"status":"${progress.status}","duration_ms":${duration}${cached}${url}}`;
}

function endEvent(sequence: number, executionId: string, status: string, result: string): ExecutionEventRecord {
  const event = 'execution-finished';
  const head = JSON.stringify({ sequence, event, execution_id: executionId, status });
  return { sequence, event, data: `${head.slice(0, -1)},"result":${result}}` };
}
