import { isObject, type JsonObject, parseJson } from '@dragoman/protocols';
import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type Connection, type ConnectionOptions, connect, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { fail } from '../trouble.ts';

interface ForgetOptions extends ConnectionOptions {
  readonly request?: string;
}

/** What is recorded in the name of an agent, taken out for good. */
export function forgetCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents forget',
    summary: 'take what is recorded of an agent out of the store, for good; the agent and its keys stay',
    examples: [`${PROGRAM} agents forget desk`, `${PROGRAM} agents forget desk --request req-1`],
  })
    .argument('<agent_id>', 'as `agents list` shows it, also of one that was removed')
    .option('--request <id>', 'only this request or execution');
  withConnectionOptions(command, 'admin');
  return runs<ForgetOptions>(command, context, async (options, [agentId = '']) => {
    const { terminal } = context;
    const connection = await connect(options, context, 'admin');
    const { request } = options;
    const name = encodeURIComponent(agentId);
    const path =
      request === undefined
        ? `/admin/v1/agents/${name}/data`
        : `/admin/v1/requests/${encodeURIComponent(request)}?agent_id=${name}`;
    const answer = await remove(connection, path);
    const underWay = Number(answer['under_way'] ?? 0);
    if (options.json) terminal.out(`${JSON.stringify(answer)}\n`);
    else if (request !== undefined) terminal.out(`forgot ${request} of ${agentId}\n`);
    else terminal.out(`forgot ${counted(answer)} of ${agentId}\n`);
    if (underWay === 0) return 0;
    terminal.note(`${underWay} under way were left as they are\n  → run it again when they have ended\n`);
    return 1;
  });
}

function counted({ forgotten }: JsonObject): string {
  const counts = Object.entries(isObject(forgotten) ? forgotten : {}).filter(([, count]) => count !== 0);
  return (
    counts.map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`).join(', ') || 'nothing: nothing was kept'
  );
}

async function remove({ url, key, keySource }: Connection, path: string): Promise<JsonObject> {
  const answer = await fetch(new URL(path, url), { method: 'DELETE', headers: { Authorization: `Bearer ${key}` } });
  const read = parseJson(await answer.text());
  const body = read.ok && isObject(read.value) ? read.value : {};
  if (answer.ok) return body;
  const suggestions = Array.isArray(body['suggestions']) ? body['suggestions'].map(String) : [];
  fail({
    code: String(body['code'] ?? 'refused'),
    message:
      answer.status === 401
        ? `the server does not know the key from ${keySource}`
        : String(body['detail'] ?? `it answered ${answer.status}`),
    fixes: suggestions,
  });
}
