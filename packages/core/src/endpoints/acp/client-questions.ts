import {
  answerFromAcpResponse,
  isConsent,
  isObject,
  type JsonObject,
  type Question,
  type QuestionEnd,
  questionBody,
  respellAcp,
} from '@dragoman/protocols';
import type { Clock, Log } from '../../ports/ports.ts';
import { failureOf } from '../../refusals/refused.ts';

export interface ClientQuestionsOptions {
  readonly sessionId: string;
  readonly capabilities: JsonObject;
  /** Sends a request to the client and resolves with its response. */
  readonly ask: (id: string, call: JsonObject) => Promise<JsonObject>;
  /** Notifies the client that its response is no longer needed. */
  readonly cancel: (id: string) => Promise<void>;
  /** Sends the answer to the hub. */
  readonly answer: (questionId: string, answer: JsonObject) => Promise<unknown>;
  /** Whether the request that asks may still be running. */
  readonly isRunning: () => boolean;
  readonly clock: Pick<Clock, 'wait'>;
  readonly log: Log;
}

/** Shows the questions of one request to the person at a client. */
export class ClientQuestions {
  readonly #options: ClientQuestionsOptions;
  /** The ids of the requests to the client, by question. */
  readonly #open = new Map<string, string>();

  constructor(options: ClientQuestionsOptions) {
    this.#options = options;
  }

  /** Puts a question to the person in a form that the client supports, and passes the answer on. */
  async ask(question: Question): Promise<void> {
    const { ask } = this.#options;
    const { question_id: questionId } = question;
    const call = this.#requestFor(question);
    const id = `question-${questionId}`;
    this.#open.set(questionId, id);
    const response = call === undefined ? DECLINED : await ask(id, call);
    await this.#answer(questionId, answerFromAcpResponse(response) as JsonObject);
    this.#open.delete(questionId);
  }

  /** Withdraws a question that has ended from the client. */
  async end({ question_id: questionId }: QuestionEnd): Promise<void> {
    const id = this.#open.get(questionId);
    this.#open.delete(questionId);
    if (id !== undefined) await this.#options.cancel(id);
  }

  async #answer(questionId: string, given: JsonObject): Promise<void> {
    const { answer, isRunning, clock, log } = this.#options;
    for (;;) {
      try {
        await answer(questionId, given);
        return;
      } catch (error) {
        const code = failureOf(error)?.code;
        // Another answer was first, or the request has ended.
        if (code === 'conflict') return;
        if (code !== 'not_found') {
          log.warn({ question_id: questionId, error: String(error) }, 'an answer to a question was rejected');
          // An invalid answer declines the question, because the client no longer shows it.
          if (code === 'invalid_message' && given !== DECLINE) await this.#answer(questionId, DECLINE);
          return;
        }
        if (!isRunning() || !this.#open.has(questionId)) return;
        // After a restart, the server opens the same question again soon.
        await clock.wait(RETRY_MS);
      }
    }
  }

  #requestFor(question: Question): JsonObject | undefined {
    const { sessionId, capabilities } = this.#options;
    const { elicitation } = capabilities;
    const mode = question.url === undefined ? 'form' : 'url';
    const canElicit = isObject(elicitation) && isObject(elicitation[mode]);
    const hasOptions = (question.options ?? []).length > 0;
    if (!isConsent(question) && !canElicit && !hasOptions) return undefined;
    const shown = isConsent(question) || canElicit ? question : { ...question, kind: 'permission' as const };
    const { method, params } = questionBody(shown, sessionId) as { method: string; params: JsonObject };
    return { method, params: respellAcp(params, 'camelCase') };
  }
}

const DECLINE: JsonObject = { action: 'decline' };
/** The response to a question that the client cannot show. */
const DECLINED: JsonObject = { result: DECLINE };
const RETRY_MS = 500;
