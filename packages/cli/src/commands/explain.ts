import { DragomanError } from '@dragoman/client';
import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { explanationText } from '../explanation-text.ts';
import { paint } from '../paint.ts';
import { fail } from '../trouble.ts';

interface ExplainOptions extends ConnectionOptions {
  readonly agent?: string;
}

export function explainCommand(context: Context): Command {
  const { terminal } = context;
  const command = newCommand(context, {
    name: 'explain',
    summary:
      'explain a request: the original message, the envelope, the rules that allowed it and the answer (needs the admin key)',
    examples: [`${PROGRAM} explain REQUEST_ID`, `${PROGRAM} explain REQUEST_ID --agent demo --json`],
  })
    .argument('<request_id>', 'the id of a request, message, execution or A2E wire line')
    .option('--agent <id>', 'the sender, if several agents have used this id');
  withConnectionOptions(command, 'admin');
  return runs<ExplainOptions>(command, context, async ({ agent, json, ...options }, [requestId = '']) => {
    const connection = await connect(options, context, 'admin');
    const { requests } = connection.client.admin;
    const explanation = await talking(connection, 'admin', async () => {
      try {
        return await requests.explain(requestId, { agentId: agent });
      } catch (error) {
        if (error instanceof DragomanError && error.is('not_found')) fail(noRecord(requestId, error));
        throw error;
      }
    });
    terminal.out(
      json
        ? `${JSON.stringify(explanation)}\n`
        : explanationText(explanation, paint(terminal.colour.out), terminal.columns),
    );
    return 0;
  });
}

function noRecord(requestId: string, { code, suggestions }: DragomanError) {
  return {
    code,
    message: `there is no record of ${JSON.stringify(requestId)}`,
    fixes: ['check the id', ...suggestions],
  };
}
