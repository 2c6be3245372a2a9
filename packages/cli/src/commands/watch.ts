import { DragomanError } from '@dragoman/client';
import type { Command } from 'commander';
import { AnswerPrinter, exitCodeOf, reconnecting } from '../answer-printer.ts';
import { integer, newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context, ExitCode } from '../context.ts';
import { fail, type Trouble } from '../trouble.ts';

interface WatchOptions extends ConnectionOptions {
  readonly after?: number;
}

export function watchCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'watch',
    summary: 'read the recorded frames of an answer, and follow it while the request runs',
    examples: [`${PROGRAM} watch REQUEST_ID`, `${PROGRAM} watch REQUEST_ID --after 3 --json`],
  })
    .argument('<request_id>', 'the request id, as printed by `send`')
    .option(
      '--after <sequence>',
      'the sequence number of the last frame you have (default: -1, none)',
      integer({ from: -1 }),
    );
  withConnectionOptions(command, 'agent');
  return runs<WatchOptions>(command, context, (options, [requestId = '']) => watch(requestId, options, context));
}

async function watch(
  requestId: string,
  options: WatchOptions & { json: boolean },
  context: Context,
): Promise<ExitCode> {
  const { terminal } = context;
  const { json, after = -1 } = options;
  const connection = await connect(options, context, 'agent');
  const printer = new AnswerPrinter({ terminal, json });
  const over = new AbortController();
  return talking(connection, 'agent', async () => {
    let last = after;
    try {
      const answer = connection.client.resume(requestId, {
        after,
        signal: over.signal,
        onReconnect: ({ error, waitMs }) => {
          const isEmpty = error.status === undefined && error.cause === undefined;
          // The stream ended without a frame, a refusal or a lost connection, so the answer has no frame after `after`.
          if (last === after && isEmpty) over.abort();
          else terminal.note(reconnecting({ error, waitMs }));
        },
      });
      for await (const frame of answer) {
        last = frame.sequence;
        printer.frame(frame);
      }
      if (last === after && !json) terminal.note(`there are no frames after ${after}\n`);
      return exitCodeOf(await answer.final());
    } catch (error) {
      if (over.signal.aborted) fail(noSuchFrame(requestId, after));
      if (error instanceof DragomanError && error.is('not_found')) fail(noSuchRequest(requestId));
      throw error;
    } finally {
      printer.endLine();
    }
  });
}

function noSuchFrame(requestId: string, after: number): Trouble {
  return {
    code: 'no_such_frame',
    message: `the answer to ${requestId} ended before frame ${after}`,
    fixes: [`read all of it: ${PROGRAM} watch ${requestId}`],
  };
}

/** The error for an unknown request. A request of another caller looks the same, so the message names both cases. */
function noSuchRequest(requestId: string): Trouble {
  return {
    code: 'not_found',
    message: `request ${JSON.stringify(requestId)} not found`,
    fixes: [
      'check the id, and use the key that sent the request',
      'the server deletes answers after keep_answers_hours (default: 24)',
    ],
  };
}
