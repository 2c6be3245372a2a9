import type { Clock } from '@dragoman/core';
import type { Answer } from '../http/route.ts';
import { withHeartbeat } from './heartbeat.ts';

/** One record of a stream: its number, by which a peer resumes, and its JSON on one line. */
export interface StreamRecord {
  readonly id: number;
  /** One of our own fixed names. Only SSE sends it. */
  readonly event?: string;
  readonly data: string;
}

/** Records as an SSE answer (WHATWG HTML §9.2). When there is nothing to send for a while, a comment is sent. */
export function sseAnswer(records: AsyncIterable<StreamRecord>, options: SseOptions): Answer {
  return sseStream(sseRecords(records), options);
}

/** An SSE answer from pieces of one or more whole events. */
export function sseStream(events: AsyncIterable<string>, options: SseOptions): Answer {
  const { clock, heartbeatMs = HEARTBEAT_MS } = options;
  return {
    status: 200,
    headers: SSE_HEADERS,
    stream: withHeartbeat(events, { clock, everyMs: heartbeatMs, beat: COMMENT }),
  };
}

export interface SseOptions {
  readonly clock: Clock;
  readonly heartbeatMs?: number;
}

async function* sseRecords(records: AsyncIterable<StreamRecord>): AsyncGenerator<string> {
  for await (const record of records) yield sseRecord(record);
}

/**
 * One event. Text of peers is only in `data`, which must be one line: with a line break in it, its sender could forge
 * the next event.
 */
export function sseRecord({ id, event, data }: StreamRecord): string {
  if (!Number.isSafeInteger(id)) throw new Error('the id of an SSE event is not a whole number');
  if (data.includes('\n') || data.includes('\r')) throw new Error('the data of an SSE event has more than one line');
  return `id: ${id}\n${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`;
}

const COMMENT = ': still here\n\n';
const HEARTBEAT_MS = 15_000;
const SSE_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx buffers a stream by default.
  'X-Accel-Buffering': 'no',
};
