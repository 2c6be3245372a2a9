import type { ExecutionEnd, ExecutionRow } from '../executions.ts';
import type { FrameRow, NewLetter, RecordedWith, RequestRow } from '../store.ts';
import { packFrames } from './frames.ts';

// Rows as lists of plain values, which are cheaper than objects to send to the store's thread.

export type RequestValues = readonly [
  owner: string,
  requestId: string,
  agentId: string,
  sessionId: string | null,
  idempotencyKey: string | null,
  envelope: string,
  acceptedAt: number,
  expiresAt: number | null,
  priority: number,
  state: RequestRow['state'],
  arrival: string | null,
  letter: LetterValues | null,
];

export type LetterValues = readonly [threadId: string | null, text: string, keep: number];

export function requestValues(row: RequestRow, { arrival, letter }: RecordedWith = {}): RequestValues {
  return [
    row.owner,
    row.requestId,
    row.agentId,
    row.sessionId,
    row.idempotencyKey,
    row.envelope,
    row.acceptedAt,
    row.expiresAt,
    row.priority,
    row.state,
    arrival ?? null,
    letter === undefined ? null : letterValues(letter),
  ];
}

function letterValues({ thread }: NewLetter): LetterValues {
  return thread === null ? NO_THREAD : [thread.threadId, thread.text, thread.keep];
}

const NO_THREAD: LetterValues = [null, '', 0];

export type FramesValues = readonly [
  first: number,
  count: number,
  ends: number,
  lengths: string | null,
  text: string,
  changedAt: number | null,
  end: string | null,
];

export function framesValues(frames: readonly FrameRow[]): FramesValues[] {
  return packFrames(frames).map(({ first, count, ends, lengths, text }) => {
    const at = first - (frames[0]?.sequence ?? 0);
    const change = lastChange(frames, at, at + count);
    return [first, count, ends, lengths, text, change?.at ?? null, change?.end ?? null];
  });
}

/** The last change of progress among these frames, if they have any. */
function lastChange(frames: readonly FrameRow[], from: number, to: number): FrameRow['change'] {
  for (let index = to - 1; index >= from; index--) {
    const change = frames[index]?.change;
    if (change !== undefined) return change;
  }
  return undefined;
}

export type ExecutionValues = readonly [
  owner: string,
  executionId: string,
  digest: string,
  idempotencyKey: string | null,
  request: string,
  acceptedAt: number,
];

export function executionValues(row: ExecutionRow): ExecutionValues {
  return [row.owner, row.executionId, row.digest, row.idempotencyKey, row.request, row.acceptedAt];
}

export type EndValues = readonly [
  status: string,
  result: string | readonly Uint8Array[],
  events: string,
  endedAt: number,
];

export function endValues({ status, result, events, endedAt }: ExecutionEnd): EndValues {
  return [status, typeof result === 'string' ? result : result.parts, events, endedAt];
}
