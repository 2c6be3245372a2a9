import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../call/principal.ts';

/** The question that a call ended with, for the call that brings its answer (2026-07-28, Multi Round-Trip Requests). */
export interface QuestionState {
  readonly requestId: string;
  readonly questionId: string;
}

/**
 * `requestState` passes through the client, so it is sealed: it is valid only for its caller and its tool. The question it names can be
 * answered once. Questions end with the process, so the key need not outlive it.
 */
export class RequestStates {
  readonly #key = randomBytes(32);

  seal({ requestId, questionId }: QuestionState, { id: owner }: Principal, tool: string): string {
    const body = Buffer.from(JSON.stringify([owner, tool, requestId, questionId])).toString('base64url');
    return `${body}.${this.#sign(body).toString('base64url')}`;
  }

  /** `undefined` for a state of another server, caller or tool. */
  open(state: string, { id: owner }: Principal, tool: string): QuestionState | undefined {
    const [body = '', seal = ''] = state.split('.');
    const given = Buffer.from(seal, 'base64url');
    const expected = this.#sign(body);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const [ofOwner, ofTool, requestId, questionId] = JSON.parse(Buffer.from(body, 'base64url').toString()) as string[];
    if (ofOwner !== owner || ofTool !== tool || requestId === undefined || questionId === undefined) return undefined;
    return { requestId, questionId };
  }

  #sign(body: string): Buffer {
    return createHmac('sha256', this.#key).update(body).digest();
  }
}
