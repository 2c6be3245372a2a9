import type { Question } from '../e2a/question.ts';

/** Task states of A2A 1.0 (specification §4.1.3). */
export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

const TERMINAL: ReadonlySet<TaskState> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);

export function isTerminal(state: TaskState): boolean {
  return TERMINAL.has(state);
}

/** Whether a task has ended or waits for its client. A blocking call waits for such a state (specification §3.2.2). */
export function isSettled(state: TaskState): boolean {
  return isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
}

/**
 * Whether a stream ends at this state. For a sign-in it stays open: the task continues by itself (specification
 * §7.6.1).
 */
export function closesStream(state: TaskState): boolean {
  return isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED';
}

/**
 * The state of a task that waits with a question. A sign-in and a page to visit are answered outside of A2A, so their
 * state is AUTH_REQUIRED.
 */
export function waitingState({ kind }: Pick<Question, 'kind'>): TaskState {
  return kind === 'auth' || kind === 'url' ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED';
}

/** The name of a state in A2A 0.3: `TASK_STATE_INPUT_REQUIRED` is `input-required`. */
export function stateIn03(state: TaskState): string {
  return state.slice('TASK_STATE_'.length).toLowerCase().replace('_', '-');
}
