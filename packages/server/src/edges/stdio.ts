import type { Clock, WireHost } from '@dragoman/core';
import { DEFAULT_LINE_LIMITS, type PeerStreams, serveLines } from './ndjson-lines.ts';

/** Serves the program that started this process, over standard input and output. Resolves at the end of input. */
export function serveStdio(lines: PeerStreams, { host, clock, maxLineBytes }: StdioOptions): Promise<void> {
  const limits = {
    ...DEFAULT_LINE_LIMITS,
    ...(maxLineBytes !== undefined && { maxLineBytes }),
    // The only peer is the program that started this process. It may take its time, and no other peer waits.
    linesATurn: 0,
    lineMs: 0,
    stallMs: A_DAY,
  };
  return serveLines(lines, { host, clock, entrance: { isLocal: true }, limits });
}

export interface StdioOptions {
  readonly host: WireHost;
  readonly clock: Clock;
  readonly maxLineBytes?: number | undefined;
}

const A_DAY = 86_400_000;
