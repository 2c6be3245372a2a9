import { serveStdio, systemClock } from '@dragoman/server';
import type { Context, ExitCode } from '../context.ts';
import { runStdioHost, type StdioHostFlags } from './stdio-host.ts';

/** Serves the wire to the parent process until the parent ends its input, sends `shutdown`, or sends a signal. */
export function runWire(options: StdioHostFlags & { json: boolean }, context: Context): Promise<ExitCode> {
  return runStdioHost(options, context, {
    command: 'wire',
    serve: ({ server, config, input, output }) => {
      const maxLineBytes = config.wire?.max_message_bytes;
      return serveStdio({ input, output }, { host: server.wire.host, clock: systemClock, maxLineBytes });
    },
  });
}
