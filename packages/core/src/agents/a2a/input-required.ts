import { isObject, type Json } from '@dragoman/protocols';
import type { MessagePart } from '@dragoman/protocols/lf-a2a';
import type { AgentPart } from '../agent.ts';

/** What a foreign agent needs before it can continue. */
export interface PeerQuestion {
  readonly state: 'TASK_STATE_INPUT_REQUIRED' | 'TASK_STATE_AUTH_REQUIRED';
  readonly text: string;
  readonly parts: readonly MessagePart[];
}

/**
 * The end of a request whose task waits for input. The task stays open: the next message of the same session is the answer. This is
 * the only place that decides what becomes of such a question.
 */
export function inputRequired({ state, text, parts }: PeerQuestion, result: Json): AgentPart {
  const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
  const status = state === 'TASK_STATE_AUTH_REQUIRED' ? 'auth_required' : 'input_required';
  return {
    part: 'complete',
    result: {
      ...(isObject(result) ? result : {}),
      status,
      question: { text: text === '' ? DEFAULT_TEXT[status] : text, ...(data.length > 0 && { data }) },
    },
  };
}

const DEFAULT_TEXT = {
  input_required: 'The agent needs more input. Send it as the next message of this session.',
  auth_required: 'The agent needs authorization that this server cannot give. Authorize it, then send a message.',
} as const;
