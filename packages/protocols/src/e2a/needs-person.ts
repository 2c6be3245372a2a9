import type { Question } from './question.ts';

/**
 * Whether only a person may answer. A model may answer an agent's choices and forms, but it may neither give consent
 * nor answer a question about a tool call.
 */
export function needsPerson({ kind, subject }: Pick<Question, 'kind' | 'subject'>): boolean {
  return !(kind === 'choice' || kind === 'form') || subject?.type === 'tool_call';
}
