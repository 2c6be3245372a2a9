import type { Readable } from 'node:stream';
import { AcpConnection, type AcpHub, type Log } from '@dragoman/core';
import { type JsonObject, LineSplitter, ndjsonLine, parseJsonBytes } from '@dragoman/protocols';
import { type LineOutput, systemClock, systemIds } from '@dragoman/server';
import { CLI_VERSION } from '../version.ts';

export interface AcpStdio {
  readonly hub: AcpHub;
  /** The only agent that is offered. Default: the client chooses. */
  readonly agent: string | undefined;
  readonly input: Readable;
  readonly output: Pick<LineOutput, 'write' | 'writableLength'>;
  readonly log: Log;
}

/** Serves ACP to the program that started this process, one message a line, until its input ends. */
export async function serveAcp({ hub, agent, input, output, log }: AcpStdio): Promise<void> {
  const send = (message: JsonObject) =>
    new Promise<void>((resolve) => {
      output.write(ndjsonLine(message), () => resolve());
      // While the program reads slowly, the promise waits until the line is written.
      if (output.writableLength <= MAX_UNSENT) resolve();
    });
  const ports = { clock: systemClock, ids: systemIds, log };
  const acp = new AcpConnection({ hub, send, ...ports, version: CLI_VERSION, transport: 'stdio', agent });
  const lines = new LineSplitter({ maxLineBytes: LONGEST_LINE });
  await new Promise<void>((resolve) => {
    input.on('data', (chunk: Uint8Array) => {
      for (const line of lines.push(chunk)) {
        // Parsed immediately: the next chunk overwrites the bytes.
        const json = line.ok ? parseJsonBytes(line.value) : line;
        const problem = json.ok ? '' : (json.issues[0]?.message ?? 'the line is not JSON');
        const answered = json.ok ? acp.receive(json.value) : acp.unreadable(problem);
        answered.catch((error: unknown) => log.error({ error: String(error) }, 'an ACP message could not be answered'));
      }
    });
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve());
  });
  await acp.close();
}

/** Long, because a prompt may contain images. */
const LONGEST_LINE = 16 * 1024 * 1024;
const MAX_UNSENT = 256 * 1024;
