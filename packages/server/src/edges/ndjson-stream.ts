import type { Clock } from '@dragoman/core';
import type { Answer } from '../http/route.ts';
import { withHeartbeat } from './heartbeat.ts';

/**
 * An NDJSON answer from pieces of one or more whole lines. When there is nothing to send for a while, an empty line is
 * sent, which readers of NDJSON skip.
 */
export function ndjsonStream(lines: AsyncIterable<string>, { clock, everyMs }: NdjsonHeartbeat): Answer {
  return { status: 200, headers: NDJSON_HEADERS, stream: withHeartbeat(lines, { clock, everyMs, beat: '\n' }) };
}

export interface NdjsonHeartbeat {
  readonly clock: Clock;
  readonly everyMs: number;
}

/** One record as a line. The record contains its own number. */
export function ndjsonRecord(data: string): string {
  if (data.includes('\n')) throw new Error('an NDJSON record has more than one line');
  return `${data}\n`;
}

const NDJSON_HEADERS = {
  'Content-Type': 'application/x-ndjson',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
};
