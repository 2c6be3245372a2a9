import {
  type E2AResponse,
  type NewQuestion,
  type Question,
  type QuestionAnswer,
  type QuestionEnd,
  questionEndIn,
} from '@dragoman/protocols';
import { Ending } from '../ending/ending.ts';
import type { AskingRun } from '../questions/open-questions.ts';
import type { NewEffect } from './effect-journal.ts';
import type { LiveExecution } from './live-execution.ts';

/** How an execution asks a person. */
export interface AskPerson {
  /** Gives a question its id and times. */
  made(given: NewQuestion): Question;
  /**
   * Returns the answer if it is known. Otherwise stops the run, which is repeated once the question has ended.
   * `settled` waits for the effects that are in progress.
   */
  ask(pending: PersonQuestion, settled: () => Promise<void>): Promise<QuestionAnswer>;
}

/** A question of an execution, and its place in the journal. */
export interface PersonQuestion {
  readonly operationId: string;
  readonly key: string;
  readonly digest: string;
  readonly question: Question;
  readonly end: QuestionEnd | undefined;
}

/** The reason why a run stops to wait for a person. */
export class WaitsForPerson extends Error {
  readonly pending: PersonQuestion;

  constructor(pending: PersonQuestion) {
    super('the execution waits for a person');
    this.pending = pending;
  }
}

/**
 * An execution that waits for a person. Its plan, data and slot are released; its effects are in the store, from which
 * it is run again when the question has ended. Ending it withdraws the question.
 */
export class ParkedExecution extends Ending implements AskingRun {
  readonly live: LiveExecution;
  readonly row: AskingRun['row'];
  readonly names: readonly string[];
  readonly pending: PersonQuestion;
  readonly #record: (effect: NewEffect) => Promise<void>;
  readonly #onOver: (() => void)[] = [];

  constructor(live: LiveExecution, pending: PersonQuestion, record: (effect: NewEffect) => Promise<void>) {
    super();
    const { owner, executionId } = live.row;
    this.live = live;
    this.pending = pending;
    this.#record = record;
    this.row = { owner, requestId: live.requestId ?? executionId, agentId: 'workflows', sessionId: null };
    this.names = [executionId];
  }

  /** The question is recorded already; this records its answer. */
  async emit(frame: Partial<E2AResponse>): Promise<void> {
    const { response_kind: kind, body } = frame;
    const end = kind === undefined || body === undefined ? undefined : questionEndIn({ response_kind: kind, body });
    if (end === undefined || end.state === 'withdrawn') return;
    const { key, digest } = this.pending;
    await this.#record({ kind: 'answer', key, note: { digest, end } });
  }

  /** Ends the wait for this reason when the signal ends. The returned function stops that. */
  onStop(signal: Ending, reason: Error): () => void {
    return signal.onEnd(() => this.end(reason));
  }

  onOver(callback: () => void): void {
    this.#onOver.push(callback);
  }

  over(): void {
    for (const callback of this.#onOver) callback();
  }
}
