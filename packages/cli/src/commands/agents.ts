import type { AgentDefinition, AgentList } from '@dragoman/client';
import type { Command } from 'commander';
import { confirmCard, withCard } from '../agent-card.ts';
import { type AgentFlags, agentDefinition, withAgentOptions } from '../agent-options.ts';
import { lostPermissions, replacementLines, replacing } from '../agent-replacement.ts';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { noSuchName } from '../no-such-name.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { unknownAgentWarnings } from '../unknown-agents.ts';
import { visible } from '../visible.ts';
import { acceptCardCommand } from './agents-accept.ts';
import { callCommand } from './agents-call.ts';
import { discoverCommand } from './agents-discover.ts';
import { forgetCommand } from './agents-forget.ts';
import { keygenCommand } from './agents-keygen.ts';
import { registerCommand } from './agents-register.ts';

export function agentsCommand(context: Context): Command {
  return newCommand(context, {
    name: 'agents',
    summary: 'administer agents (needs the admin key); find, register and call them with A2A messages',
    examples: [`${PROGRAM} agents list`, `${PROGRAM} agents add desk --may-call echo`],
  })
    .addCommand(listCommand(context))
    .addCommand(addCommand(context))
    .addCommand(acceptCardCommand(context))
    .addCommand(removeCommand(context))
    .addCommand(forgetCommand(context))
    .addCommand(keygenCommand(context))
    .addCommand(registerCommand(context))
    .addCommand(discoverCommand(context))
    .addCommand(callCommand(context));
}

function listCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents list',
    summary: 'list all agents and their permissions',
    examples: [`${PROGRAM} agents list`],
  });
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options) => {
    const connection = await connect(options, context, 'admin');
    const list = await talking(connection, 'admin', () => connection.client.admin.agents.list());
    context.terminal.out(options.json ? `${JSON.stringify(list)}\n` : agentTable(list, context.terminal));
    return 0;
  });
}

function agentTable({ agents, targets, registered }: AgentList, terminal: Terminal): string {
  const registrationOf = (id: string) => {
    const one = registered.find(({ agent_id }) => agent_id === id);
    if (one === undefined) return undefined;
    return one.registered_by === id ? 'registered itself' : `registered by ${one.registered_by}`;
  };
  const byId = new Map<string, AgentDefinition | undefined>(targets.map((id) => [id, undefined]));
  for (const agent of agents) byId.set(agent.agent_id, agent);
  const rows = [...byId]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([id, agent]) => [
      id,
      targets.includes(id) ? (agent?.driver ?? registrationOf(id) ?? 'from the config') : 'no',
      agent === undefined ? 'none' : (agent.permissions.agents ?? []).join(', ') || 'none',
      visible(agent?.description ?? agent?.name ?? ''),
    ]);
  return table(['AGENT', 'ANSWERS', 'MAY CALL', 'DESCRIPTION'], rows, terminal);
}

function addCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents add',
    summary: 'create or replace an agent; a new one gets an API key, shown only once',
    examples: [
      `${PROGRAM} agents add desk --may-call echo --may-call clock`,
      `${PROGRAM} agents add coder --command node --arg coder.mjs`,
      `${PROGRAM} agents add partner --card https://partner.example.com/.well-known/agent-card.json`,
      `${PROGRAM} agents add --file agent.json`,
    ],
  }).argument('[agent_id]', 'its name');
  withAgentOptions(command);
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions & AgentFlags>(command, context, async (options, [agentId]) => {
    const { terminal } = context;
    const given = await agentDefinition(agentId, options, context);
    const connection = await connect(options, context, 'admin');
    const { agents } = connection.client.admin;
    const { before, agent, warnings } = await talking(connection, 'admin', async () => {
      const card = options.card === undefined ? undefined : await agents.preview(given);
      const whole = card === undefined ? given : withCard(given, card);
      if (card !== undefined) await confirmCard(whole, card, { yes: options.yes === true, terminal });
      const list = await agents.list();
      const before = list.agents.find(({ agent_id }) => agent_id === whole.agent_id);
      const definition = replacing(before, whole, { dropPublicKey: options.publicKey === false });
      const agent = await agents.put(definition);
      const warnings = unknownAgentWarnings(agent.permissions.agents ?? [], list);
      return { before, agent, warnings };
    });
    if (options.json) terminal.out(`${JSON.stringify(agent)}\n`);
    else if (agent.api_key === undefined) {
      const changes = before === undefined ? [] : replacementLines(before, agent);
      const isSame = changes.length === 0;
      const lines = [
        `${isSame ? `${agent.agent_id} is unchanged` : `replaced ${agent.agent_id}`}; its API keys stay as they are`,
        ...changes.map((line) => `  ${visible(line)}`),
        ...lostPermissions(before, agent),
        `  → for another key: ${PROGRAM} keys create --agent ${agent.agent_id}`,
      ];
      terminal.note(`${lines.join('\n')}\n`);
    } else {
      terminal.note(`added ${agent.agent_id}; what follows is shown only once\n`);
      if (agent.webhook_secret !== undefined) terminal.note(`callback secret: ${agent.webhook_secret}\n`);
      // The key alone on stdout, for $(…).
      if (terminal.isTTY) terminal.note('API key: ');
      terminal.out(`${agent.api_key}\n`);
    }
    if (!options.json) for (const warning of warnings) terminal.note(visible(warning));
    return 0;
  });
}

function removeCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents remove',
    summary: 'remove an agent and revoke its keys',
    examples: [`${PROGRAM} agents remove desk`],
  }).argument('<agent_id>', 'as shown by `agents list`');
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options, [agentId = '']) => {
    const connection = await connect(options, context, 'admin');
    const { admin } = connection.client;
    const answer = await talking(connection, 'admin', () =>
      admin.agents.remove(agentId).catch((error: unknown) =>
        noSuchName(error, {
          isIt: (refused) => refused.is('not_found'),
          name: agentId,
          message: `there is no agent ${JSON.stringify(agentId)}`,
          known: async () => {
            const { agents, targets } = await admin.agents.list();
            return [...agents.map(({ agent_id }) => agent_id), ...targets];
          },
          list: `${PROGRAM} agents list`,
        }),
      ),
    );
    context.terminal.out(options.json ? `${JSON.stringify(answer)}\n` : `removed ${agentId}\n`);
    return 0;
  });
}
