import type { Clock } from '@dragoman/core';
import type { Answer } from '../route.ts';
import { withHeartbeat } from './heartbeat.ts';
import type { StreamRecord } from './sse.ts';

/**
 * Records as an NDJSON answer: one line each. The record carries its number inside, so none is added. With `heartbeat`
 * an empty line is sent where there is nothing else for a while; readers of NDJSON skip empty lines.
 */
export function ndjsonAnswer(records: AsyncIterable<StreamRecord>, heartbeat?: NdjsonHeartbeat): Answer {
  return ndjsonStream(ndjsonLines(records), heartbeat);
}

/** The same of lines that are written already, any number of whole ones at a time. */
export function ndjsonStream(lines: AsyncIterable<string>, heartbeat?: NdjsonHeartbeat): Answer {
  return {
    status: 200,
    headers: NDJSON_HEADERS,
    stream:
      heartbeat === undefined
        ? lines
        : withHeartbeat(lines, { clock: heartbeat.clock, everyMs: heartbeat.everyMs, beat: '\n' }),
  };
}

export interface NdjsonHeartbeat {
  readonly clock: Clock;
  readonly everyMs: number;
}

async function* ndjsonLines(records: AsyncIterable<StreamRecord>): AsyncGenerator<string> {
  for await (const { data } of records) yield ndjsonLine(data);
}

export function ndjsonLine(data: string): string {
  if (data.includes('\n')) throw new Error('an NDJSON record has more than one line');
  return `${data}\n`;
}

const NDJSON_HEADERS = {
  'Content-Type': 'application/x-ndjson',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
};
