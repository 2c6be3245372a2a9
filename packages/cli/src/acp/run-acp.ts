import { AcpConnection } from '@dragoman/core';
import { LineSplitter, ndjsonLine, parseJsonBytes } from '@dragoman/protocols';
import { systemIds } from '@dragoman/server';
import type { ServerConnection } from '../connection.ts';
import type { Context, ExitCode } from '../context.ts';
import { CLI_VERSION } from '../version.ts';
import { clientHub } from './client-hub.ts';

/**
 * Serves ACP to the program that started it, on stdin and stdout, until stdin ends. Nothing else is written to stdout. What the
 * program has asked for goes on at the server, and `session/load` finds it.
 */
export async function runAcp(
  { client }: ServerConnection,
  { terminal }: Context,
  { agent }: { readonly agent: string | undefined },
): Promise<ExitCode> {
  const note = (fields: object, message: string) => terminal.note(`${message} ${JSON.stringify(fields)}\n`);
  const acp = new AcpConnection({
    hub: clientHub(client),
    send: async (message) => terminal.out(ndjsonLine(message)),
    ids: systemIds,
    log: { debug: () => {}, info: () => {}, warn: note, error: note },
    version: CLI_VERSION,
    transport: 'stdio',
    agent,
  });
  const splitter = new LineSplitter({ maxLineBytes: LONGEST_LINE });
  for await (const chunk of terminal.stdin()) {
    for (const line of splitter.push(chunk)) {
      const json = line.ok ? parseJsonBytes(line.value) : line;
      const answered = json.ok ? acp.receive(json.value) : acp.unreadable(json.issues[0]?.message ?? 'it is not JSON');
      answered.catch((error: unknown) => note({ error: String(error) }, 'an ACP message could not be answered'));
    }
  }
  acp.close();
  return 0;
}

/** A prompt may hold images. */
const LONGEST_LINE = 16 * 1024 * 1024;
