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
  /** The question as it is asked, with its id and times. */
  made(given: NewQuestion): Question;
  /** The answer where there is one; else the run stops here, and is done again when there is. */
  ask(asked: AskedPerson, settled: () => Promise<void>): Promise<QuestionAnswer>;
}

/** A question of an execution, and where it stands in its journal. */
export interface AskedPerson {
  readonly operationId: string;
  readonly key: string;
  readonly digest: string;
  readonly question: Question;
  readonly end: QuestionEnd | undefined;
}

/** Why a run stops that waits for a person. */
export class WaitsForPerson extends Error {
  readonly asked: AskedPerson;

  constructor(asked: AskedPerson) {
    super('the execution waits for a person');
    this.asked = asked;
  }
}

/**
 * An execution that waits for a person. Its plan, data and place are given back: what it did is in the store, and it is run again from there
 * when the question has ended. Ending it withdraws the question.
 */
export class ParkedExecution extends Ending implements AskingRun {
  readonly live: LiveExecution;
  readonly row: AskingRun['row'];
  readonly names: readonly string[];
  readonly asked: AskedPerson;
  readonly #record: (effect: NewEffect) => Promise<void>;
  readonly #onOver: (() => void)[] = [];

  constructor(live: LiveExecution, asked: AskedPerson, record: (effect: NewEffect) => Promise<void>) {
    super();
    const { owner, executionId } = live.row;
    this.live = live;
    this.asked = asked;
    this.#record = record;
    this.row = { owner, requestId: live.requestId ?? executionId, agentId: 'workflows', sessionId: null };
    this.names = [executionId];
  }

  /** The question itself is recorded already; its answer is now. */
  async tell(frame: Partial<E2AResponse>): Promise<void> {
    const { response_kind: kind, body } = frame;
    const end = kind === undefined || body === undefined ? undefined : questionEndIn({ response_kind: kind, body });
    if (end === undefined || end.state === 'withdrawn') return;
    const { key, digest } = this.asked;
    await this.#record({ kind: 'answer', key, note: { digest, end } });
  }

  /** Ends with the signal, for this reason, until that is called off. */
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
