import type { Question } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';
import { ActiveRun } from '../runs/active-run.ts';
import type { ExecutionAccepted, ExecutionEnd, ExecutionKey, ExecutionRow } from '../store/executions.ts';
import { type LongText, stringOf } from '../text/long-text.ts';
import type { Progress } from '../workflow/effects.ts';
import type { EffectJournal } from './effect-journal.ts';
import { NO_RESULTS, type ResultsSoFar, runningResult } from './result.ts';
import type { UsedSecrets } from './used-secrets.ts';

/** One thing told about an execution, with its number, by which a reader resumes. JSON text of one line. */
export interface ExecutionEventRecord {
  readonly sequence: number;
  readonly event: Progress['event'] | 'execution-finished';
  readonly data: string;
}

/** An execution that runs in this process, and what it has told so far. */
export class LiveExecution extends ActiveRun {
  readonly kind = 'execution';
  readonly row: ExecutionRow;
  /** Its name in the table of runs. */
  readonly name: string;
  readonly principal: Principal;
  /** Its result as JSON text, once that is on the disk. Rejects where it could not be recorded. */
  readonly ended: Promise<string | LongText>;
  /** Whether it is on the disk, or on the way there; `undefined` while nobody needs it to be. */
  recording: Promise<ExecutionAccepted> | undefined;
  /** Why it is to end while it waits for a person. */
  withdrawn: Error | undefined;
  /** How long it has run before it waited for a person. */
  spentMs = 0;
  /** The request that it answers, beside itself. */
  requestId: string | undefined;
  /** When it was first asked for, where it turned out to be a repeat. */
  replayedFrom: number | undefined;
  #journal: EffectJournal | undefined;
  #secrets: UsedSecrets | undefined;
  #results: ResultsSoFar = NO_RESULTS;
  /** Written out only when somebody reads them: most executions nobody watches. */
  #events: Progress[] = [];
  /** Its record, where another process has ended it. */
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
    // Nobody may be waiting for it.
    this.ended.catch(() => {});
  }

  /** It runs, from the beginning: what an earlier run told is told again, with the same numbers. */
  begin(journal: EffectJournal, secrets: UsedSecrets): void {
    this.#journal = journal;
    this.#secrets = secrets;
    this.#results = { values: new Map(), omitted: new Set() };
    this.#events = [];
    this.#closing = false;
  }

  /** Resolves when it waits for a person. */
  whenParked(): Promise<void> {
    return this.#question !== undefined ? Promise.resolve() : new Promise((resolve) => this.#onParked.push(resolve));
  }

  /** It waits for the answer to this question, or does no more. */
  park(question: Question | undefined): void {
    this.#question = question;
    if (question === undefined) return;
    for (const parked of this.#onParked.splice(0)) parked();
  }

  tell(progress: Progress): void {
    this.#events.push(this.#withoutValue(progress));
    if (this.#wake.length > 0) this.#wakeReaders();
  }

  /** Keeps the last result of each operation, as an execution that has ended shows them. Events have none. */
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

  /** How it stands, as JSON text. What an effect led to is shown when that effect is on the disk, and without secrets. */
  async soFar(): Promise<string> {
    const question = this.#question;
    const running = runningResult(this.row, this.#results);
    const text = JSON.stringify(question === undefined ? running : { ...running, questions: [question] });
    await this.#recorded();
    return this.#secrets?.isAny === true ? this.#secrets.redacted(text) : text;
  }

  /** How many events there are by now, the end included. */
  get told(): number {
    return this.#events.length + (this.#end === undefined ? 0 : 1);
  }

  /** Its end is about to be recorded. Gives what was told, to be recorded with it. */
  close(): string {
    this.#closing = true;
    // The result has them. Kept until that is on the disk, they would outlive the young generation.
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

  /** Another process has ended it. What it told is in its record. */
  finishElsewhere(row: ExecutionRow, { status, result }: Pick<ExecutionEnd, 'status' | 'result'>): void {
    this.#past = row;
    this.finish(status, result);
  }

  /** It continues after the next start. */
  override interrupt(): void {
    this.end(SUSPENDED);
  }

  fail(error: unknown): void {
    this.#broken = error;
    this.#reject(error);
    this.#wakeReaders();
  }

  /** Everything told after a number, to the end. What an effect led to is told when that effect is on the disk. */
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

  /** Resolves when what was told so far is on the disk: by itself, or with the end, after which nothing else is written. */
  async #recorded(): Promise<void> {
    try {
      if (!this.#closing) await this.#journal?.flush();
    } catch (error) {
      if (!this.#closing) throw error;
    }
    if (this.#closing) await this.ended;
  }

  #wakeReaders(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const reader of wake) reader();
  }
}

/** What one that has ended told, read back. */
export async function* pastEvents(
  row: ExecutionRow,
  after: number,
): AsyncGenerator<ExecutionEventRecord, void, undefined> {
  if (row.end === null) return;
  const told = JSON.parse(row.end.events) as readonly {
    readonly sequence: number;
    readonly event: Progress['event'];
  }[];
  for (const one of told) {
    if (one.sequence > after) yield { sequence: one.sequence, event: one.event, data: JSON.stringify(one) };
  }
  if (told.length <= after) return;
  yield endEvent(told.length, row.executionId, row.end.status, await stringOf(row.end.result));
}

/** The name of an execution in the table of runs. */
export function executionName({ owner, executionId }: ExecutionKey): string {
  // An agent id has no line break in it.
  return `execution\n${owner}\n${executionId}`;
}

/** Why an execution ends that continues after the next start. */
export const SUSPENDED = new Error('the server is stopping; the execution continues after the next start');

/** What is told of an operation, as JSON text. Its ids are words without anything to escape. */
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
