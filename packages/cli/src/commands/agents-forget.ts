import type { Forgotten } from '@dragoman/client';
import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';

interface ForgetOptions extends ConnectionOptions {
  readonly request?: string;
}

export function forgetCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents forget',
    summary: 'delete everything recorded for an agent; the agent and its keys stay',
    examples: [`${PROGRAM} agents forget desk`, `${PROGRAM} agents forget desk --request req-1`],
  })
    .argument('<agent_id>', 'as shown by `agents list`, including removed agents')
    .option('--request <id>', 'only this request or execution');
  withConnectionOptions(command, 'admin');
  return runs<ForgetOptions>(command, context, async (options, [agentId = '']) => {
    const { terminal } = context;
    const { request, json } = options;
    const connection = await connect(options, context, 'admin');
    const { agents, requests } = connection.client.admin;
    if (request !== undefined) {
      const answer = await talking(connection, 'admin', () => requests.forget(request, { agentId }));
      terminal.out(json ? `${JSON.stringify(answer)}\n` : `forgot ${request} of ${agentId}\n`);
      return 0;
    }
    const answer = await talking(connection, 'admin', () => agents.forget(agentId));
    terminal.out(json ? `${JSON.stringify(answer)}\n` : `forgot ${counted(answer)} of ${agentId}\n`);
    if (answer.under_way === 0) return 0;
    terminal.note(
      `${answer.under_way} are still running and were not deleted\n  → run it again when they have ended\n`,
    );
    return 1;
  });
}

function counted({ forgotten }: Forgotten): string {
  const counts = Object.entries(forgotten).filter(([, count]) => count !== 0);
  return (
    counts.map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`).join(', ') ||
    'nothing: there were no records'
  );
}
