import { type Client, DragomanError } from '@dragoman/client';
import {
  answerFromText,
  type E2AResponse,
  type Question,
  questionEndIn,
  questionIn,
  questionText,
} from '@dragoman/protocols';
import { PROGRAM } from './command.ts';
import type { Terminal } from './terminal.ts';
import { visible } from './visible.ts';

/** Asks the person at the terminal the questions of an answer while the answer is still being read. */
export class QuestionPrompt {
  readonly #terminal: Terminal;
  readonly #client: Client;
  readonly #requestId: string;
  readonly #open = new Map<string, AbortController>();

  constructor({ terminal, client, requestId }: QuestionPromptOptions) {
    this.#terminal = terminal;
    this.#client = client;
    this.#requestId = requestId;
  }

  frame(frame: E2AResponse): void {
    const question = questionIn(frame);
    if (question !== undefined) void this.#ask(question);
    const end = questionEndIn(frame);
    if (end === undefined) return;
    const prompt = this.#open.get(end.question_id);
    prompt?.abort();
    if (prompt !== undefined) this.#terminal.note(`\n${ENDS[end.state]}\n`);
  }

  /** Stops asking. */
  end(): void {
    for (const prompt of this.#open.values()) prompt.abort();
  }

  async #ask(question: Question): Promise<void> {
    const { ask } = this.#terminal;
    const { question_id: id } = question;
    if (ask === undefined) {
      const how = `${PROGRAM} questions answer ${id} ANSWER`;
      this.#terminal.note(`\n${visible(questionText(question))}\nanswer with: ${how}\n`);
      return;
    }
    const prompt = new AbortController();
    this.#open.set(id, prompt);
    try {
      await this.#untilAnswered(question, ask, prompt.signal);
    } catch (error) {
      if (prompt.signal.aborted) return;
      if (!(error instanceof DragomanError)) throw error;
      this.#terminal.note(`${visible(error.message)}\n`);
    } finally {
      this.#open.delete(id);
    }
  }

  async #untilAnswered(question: Question, ask: NonNullable<Terminal['ask']>, signal: AbortSignal): Promise<void> {
    let prompt = `\n${visible(questionText(question))}\n> `;
    for (;;) {
      const typed = await ask(prompt, signal);
      if (typed === undefined) return;
      const given = answerFromText(question, typed);
      if (given === undefined) this.#terminal.note(`${visible(JSON.stringify(typed))} is not an answer\n`);
      else {
        const refused = await this.#answer(question, given);
        if (refused === undefined) return;
        this.#terminal.note(`${visible(refused)}\n`);
      }
      prompt = '> ';
    }
  }

  /** Sends the person's answer. Returns why it was rejected, or `undefined`. */
  async #answer({ question_id }: Question, given: NonNullable<ReturnType<typeof answerFromText>>) {
    try {
      // Removed first, because the end of the question is expected now.
      this.#open.delete(question_id);
      await this.#client.questions.answer({ request_id: this.#requestId, question_id }, given);
      return undefined;
    } catch (error) {
      if (error instanceof DragomanError && error.is('invalid_message')) return error.message;
      throw error;
    }
  }
}

interface QuestionPromptOptions {
  readonly terminal: Terminal;
  readonly client: Client;
  readonly requestId: string;
}

const ENDS = {
  answered: 'the question was answered elsewhere',
  expired: 'the time to answer is over',
  withdrawn: 'the question was withdrawn',
} as const;
