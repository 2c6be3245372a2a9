import type { Clock } from '@dragoman/core';
import type { Answer } from '../http/route.ts';
import { withHeartbeat } from './heartbeat.ts';

/**
 * Lines as an NDJSON answer, any number of whole ones at a time. An empty line is sent where there is nothing else for a
 * while; readers of NDJSON skip empty lines.
 */
export function ndjsonStream(lines: AsyncIterable<string>, { clock, everyMs }: NdjsonHeartbeat): Answer {
  return { status: 200, headers: NDJSON_HEADERS, stream: withHeartbeat(lines, { clock, everyMs, beat: '\n' }) };
}

export interface NdjsonHeartbeat {
  readonly clock: Clock;
  readonly everyMs: number;
}

/** One record. It contains its number, so none is added. */
export function ndjsonRecord(data: string): string {
  if (data.includes('\n')) throw new Error('an NDJSON record has more than one line');
  return `${data}\n`;
}

const NDJSON_HEADERS = {
  'Content-Type': 'application/x-ndjson',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
};
