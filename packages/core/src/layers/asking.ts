import type { Ask } from '../call/ask.ts';
import type { AskClient } from '../call/ask-client.ts';
import { type Added, type Call, ExtendedCall } from '../call/call.ts';
import type { Layer } from '../call/handler.ts';
import type { ClientCalls } from '../questions/client-calls.ts';
import type { OpenQuestions } from '../questions/open-questions.ts';

/**
 * Lets an agent ask a person. If a request was made by another running request, as when an agent uses a tool, the
 * question goes through that one, whose reader is the person.
 */
export function asking(questions: OpenQuestions, clientCalls: ClientCalls): Layer {
  return (next) => (envelope, call) =>
    next(envelope, new ExtendedCall(call, new AddedAsk(questions, clientCalls, call)));
}

/** Creates the functions only when the agent reads them. */
class AddedAsk implements Added {
  readonly #questions: OpenQuestions;
  readonly #clientCalls: ClientCalls;
  readonly #call: Call;

  constructor(questions: OpenQuestions, clientCalls: ClientCalls, call: Call) {
    this.#questions = questions;
    this.#clientCalls = clientCalls;
    this.#call = call;
  }

  get askClient(): AskClient | undefined {
    const { running } = this.#call;
    return running && ((request) => this.#clientCalls.call(running, request));
  }

  get ask(): Ask | undefined {
    const { ask, running } = this.#call;
    if (running === undefined) return undefined;
    if (ask === undefined) return (question, options) => this.#questions.ask(running, question, options);
    return (question, { signal, askers = [] } = {}) => {
      const signals = [this.#call.signal, ...(signal === undefined ? [] : [signal])];
      return ask(question, { signal: AbortSignal.any(signals), askers: [...askers, running.row.agentId] });
    };
  }
}
