import type { ExecutionEnd, ExecutionRow } from '../executions.ts';
import type { FrameRow, RequestRow } from '../store.ts';
import { packFrames } from './frames.ts';

// Rows as lists of plain values, for the way to the store's thread: they cross it at a quarter of the cost of objects.

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
];

export function requestValues(row: RequestRow, arrival: string | null = null): RequestValues {
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
    arrival,
  ];
}

export type FramesValues = readonly [first: number, count: number, ends: number, lengths: string | null, text: string];

export function framesValues(frames: readonly FrameRow[]): FramesValues[] {
  return packFrames(frames).map(({ first, count, ends, lengths, text }) => [first, count, ends, lengths, text]);
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
  result: string,
  events: string,
  endedAt: number,
  repeats: string | null,
];

export function endValues({ status, result, brief, events, endedAt }: ExecutionEnd): EndValues {
  return [status, brief?.text ?? result, events, endedAt, brief?.repeats ?? null];
}
