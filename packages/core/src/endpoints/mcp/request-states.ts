import type { Principal } from '../../call/principal.ts';
import type { Seals } from './seals.ts';

/** The question that a call ended with, for the call that brings its answer (2026-07-28, Multi Round-Trip Requests). */
export interface QuestionState {
  readonly requestId: string;
  readonly questionId: string;
}

/**
 * `requestState` passes through the client, so it is sealed: it is valid only for its caller and its tool. The question it names can be
 * answered once. Without other nodes, questions end with the process, so the key need not outlive it.
 */
export class RequestStates {
  readonly #seals: Seals;

  constructor(seals: Seals) {
    this.#seals = seals;
  }

  seal({ requestId, questionId }: QuestionState, { id: owner }: Principal, tool: string): string {
    return this.#seals.seal(PURPOSE, [owner, tool, requestId, questionId]);
  }

  /** `undefined` for a state of another server, caller or tool. */
  open(state: string, { id: owner }: Principal, tool: string): QuestionState | undefined {
    const [ofOwner, ofTool, requestId, questionId] = this.#seals.open(PURPOSE, state) ?? [];
    if (ofOwner !== owner || ofTool !== tool) return undefined;
    return { requestId: String(requestId), questionId: String(questionId) };
  }
}

const PURPOSE = 'question';
