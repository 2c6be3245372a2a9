import type { Question } from './question.ts';

/** Whether only a person may answer. A model may make choices and fill in forms of an agent, but never consents, nor speaks to a tool for a person. */
export function needsPerson({ kind, subject }: Pick<Question, 'kind' | 'subject'>): boolean {
  return !(kind === 'choice' || kind === 'form') || subject?.type === 'tool_call';
}
