import type { Readable } from 'node:stream';
import { type Json, LineSplitter, ndjsonLine, type Outcome } from '@dragoman/protocols';
import type { LimitedLog } from '../../ports/limited-log.ts';
import type { Clock } from '../../ports/ports.ts';
import { type Child, startChild } from '../../processes/child-process.ts';
import { killGroup } from '../../processes/orphans.ts';
import type { ReadVariables } from '../../vault/references.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import { MAX_FRAME_BYTES, READ_PAST_LIMIT } from '../agent-frame.ts';
import { AcpLineLost, type AcpTransport, type OpenAcpTransport } from './acp-transport.ts';

export interface AcpChildOptions {
  readonly id: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: ReadVariables;
  readonly cwd?: string | undefined;
  readonly childrenFolder: string;
  readonly clock: Clock;
  readonly log: LimitedLog;
  readonly reader: JsonReader;
}

/** Starts a program that speaks ACP on its standard streams, one message a line. */
export function acpChild(options: AcpChildOptions): OpenAcpTransport {
  return async () => {
    const { id, command, args, env, cwd, childrenFolder: folder, clock, log } = options;
    const child = await startChild({ agentId: id, command, args, env: await env(), clock, folder, cwd });
    void logErrors(child.stderr, log);
    return transportOf(child, options);
  };
}

function transportOf(child: Child, options: AcpChildOptions): AcpTransport {
  const { stdin, pid, exited } = child;
  return {
    messages: messagesIn(child, options),
    send: (message) => {
      if (stdin.writableLength > MOST_UNSENT) {
        killGroup(pid);
        throw new AcpLineLost("The agent's program does not read its input.");
      }
      stdin.write(ndjsonLine(message));
    },
    lost: exited.then(({ code, signal }) => {
      const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
      return `The agent's program ${how} before it had answered.`;
    }),
    end: (patience) => child.end(patience),
  };
}

async function* messagesIn(
  child: Child,
  { id, reader }: AcpChildOptions,
): AsyncGenerator<Outcome<Json>, void, undefined> {
  const splitter = new LineSplitter({ maxLineBytes: MAX_FRAME_BYTES });
  try {
    for await (const chunk of child.stdout) {
      for (const line of splitter.push(chunk as Uint8Array)) {
        yield line.ok ? await reader.read(line.value, { caller: id, waits: true }) : line;
      }
      // An endless line is not a message, and the program cannot recover from it.
      if (splitter.bytesSinceNewline > MAX_FRAME_BYTES * READ_PAST_LIMIT) killGroup(child.pid);
    }
  } catch {
    // The pipe broke: the program has ended or is about to.
  }
  // Without its output, the program is of no use.
  void child.end({ patienceMs: 1000 });
}

async function logErrors(stderr: Readable, log: LimitedLog): Promise<void> {
  const splitter = new LineSplitter({ maxLineBytes: 64 * 1024 });
  try {
    for await (const chunk of stderr) {
      for (const text of splitter.push(chunk as Uint8Array)) {
        const line = text.ok ? Buffer.from(text.value.subarray(0, 2000)).toString() : '(a very long line)';
        log.write('info', { stderr: line }, 'the agent wrote to stderr');
      }
    }
  } catch {
    // The program has ended.
  }
  log.flush();
}

const MOST_UNSENT = 16 * 1024 * 1024;
