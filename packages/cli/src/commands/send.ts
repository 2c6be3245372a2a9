import { PRIORITIES, type Priority } from '@dragoman/client';
import { type Command, Option } from 'commander';
import { AnswerPrinter, exitCodeOf, reconnecting } from '../answer-printer.ts';
import { cancelOnSignal } from '../cancel-on-signal.ts';
import { A_YEAR, integer, newCommand, nonEmptyName, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context, ExitCode } from '../context.ts';
import { readText } from '../input.ts';
import { QuestionPrompt } from '../question-prompt.ts';

interface SendOptions extends ConnectionOptions {
  readonly agent?: string;
  readonly session?: string;
  readonly id?: string;
  readonly priority?: Priority;
  readonly expires?: number;
}

export function sendCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'send',
    summary: 'send a message to an agent and stream its answer; Ctrl-C cancels it',
    examples: [
      `${PROGRAM} send "hello"`,
      `${PROGRAM} send --agent clock "what time is it?"`,
      `${PROGRAM} send - < question.txt`,
    ],
  })
    .argument('<text...>', 'the message; use - to read it from stdin')
    .option('--agent <id>', 'the agent to send it to (default: default_agent of the server)', nonEmptyName)
    .option('--session <id>', 'the conversation it belongs to', nonEmptyName)
    .option(
      '--id <id>',
      'the request id (default: generated); sending the same id again returns the recorded answer',
      nonEmptyName,
    )
    .addOption(
      new Option('--priority <priority>', 'priority while the request waits')
        .choices(PRIORITIES)
        .default(undefined, 'normal'),
    )
    .option(
      '--expires <seconds>',
      'drop the message if it has not started within this time',
      integer({ from: 1, to: A_YEAR }),
    );
  withConnectionOptions(command, 'agent');
  return runs<SendOptions>(command, context, (options, [text = '']) => send(text, options, context));
}

async function send(text: string, options: SendOptions & { json: boolean }, context: Context): Promise<ExitCode> {
  const { terminal } = context;
  const { json, agent, session, id: requestId, priority, expires } = options;
  const connection = await connect(options, context, 'agent');
  const content = text === '-' ? await readText('-', context) : text;
  const printer = new AnswerPrinter({ terminal, json });
  return talking(connection, 'agent', async () => {
    const answer = connection.client.send(content, {
      agent,
      session,
      requestId,
      priority,
      expiresAt: expires === undefined ? undefined : new Date(context.now().getTime() + expires * 1000),
      onReconnect: (event) => terminal.note(reconnecting(event)),
    });
    if (!json) terminal.note(`request ${answer.requestId}, key from ${connection.keySource}\n`);
    const prompt = new QuestionPrompt({ terminal, client: connection.client, requestId: answer.requestId });
    const forget = cancelOnSignal(() => answer.cancel(), context);
    try {
      for await (const frame of answer) {
        printer.frame(frame);
        if (!json) prompt.frame(frame);
      }
      return exitCodeOf(await answer.final());
    } finally {
      prompt.end();
      forget();
      printer.endLine();
    }
  });
}
