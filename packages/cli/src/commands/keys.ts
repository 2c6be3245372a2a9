import type { KeyRequest } from '@dragoman/client';
import type { Command } from 'commander';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { A_DAY_MS, duration } from '../duration.ts';
import { noSuchName } from '../no-such-name.ts';
import { table } from '../table.ts';
import { fail } from '../trouble.ts';
import { visible } from '../visible.ts';

export function keysCommand(context: Context): Command {
  return newCommand(context, {
    name: 'keys',
    summary: 'create, list and revoke API keys (needs the admin key)',
    examples: [`${PROGRAM} keys create --agent desk`, `${PROGRAM} keys list`],
  })
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(revokeCommand(context));
}

interface CreateOptions extends ConnectionOptions {
  readonly agent?: string;
  readonly admin?: boolean;
  readonly description?: string;
  /** In milliseconds. */
  readonly expires?: number;
}

function createCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'keys create',
    summary: 'create another key for an agent, shown only once',
    examples: [
      `${PROGRAM} keys create --agent desk --expires 30d`,
      `export DRAGOMAN_KEY=$(${PROGRAM} keys create --agent desk)`,
    ],
  })
    .option('--agent <id>', 'the agent the key is for')
    .option('--admin', 'create an admin key')
    .option(
      '--expires <time>',
      'how long it is valid, such as 12h or 30d (default: without limit)',
      duration({ fromMs: 1000, toMs: TEN_YEARS_MS }),
    )
    .option('--description <text>', 'what it is for');
  withConnectionOptions(command, 'admin');
  return runs<CreateOptions>(command, context, async (options) => {
    const { terminal } = context;
    const request = keyRequest(options);
    const connection = await connect(options, context, 'admin');
    const { client } = connection;
    const key = await talking(connection, 'admin', () =>
      client.admin.keys.create(request).catch((error: unknown) =>
        noSuchName(error, {
          isIt: ({ issues }) => issues.some(({ code }) => code === 'unknown_agent'),
          name: options.agent ?? '',
          message: `there is no agent ${JSON.stringify(options.agent)}`,
          known: async () => (await client.admin.agents.list()).agents.map(({ agent_id }) => agent_id),
          list: `${PROGRAM} agents list`,
        }),
      ),
    );
    if (options.json) terminal.out(`${JSON.stringify(key)}\n`);
    else {
      // The key alone on stdout, for $(…).
      terminal.note(
        `key ${key.key_id} for ${key.agent_id}${key.expires_at === null ? '' : `, until ${key.expires_at}`}, shown only once:\n`,
      );
      terminal.out(`${key.api_key}\n`);
    }
    return 0;
  });
}

function keyRequest({ agent, admin = false, description, expires }: CreateOptions): KeyRequest {
  const described = {
    ...(description !== undefined && { description }),
    ...(expires !== undefined && { expires_in_seconds: Math.ceil(expires / 1000) }),
  };
  if (admin && agent === undefined) return { role: 'admin', ...described };
  if (!admin && agent !== undefined) return { agent_id: agent, ...described };
  fail({
    code: 'usage',
    message: "specify --agent ID for an agent's key, or --admin for an admin key",
    fixes: [`${PROGRAM} keys create --agent AGENT_ID`],
    exitCode: 2,
  });
}

function listCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'keys list',
    summary: 'list all keys, without secrets',
    examples: [`${PROGRAM} keys list`],
  });
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options) => {
    const connection = await connect(options, context, 'admin');
    const keys = await talking(connection, 'admin', () => connection.client.admin.keys.list());
    const rows = keys.map(({ key_id, agent_id, role, created_at, expires_at, revoked_at, description }) => [
      key_id,
      agent_id,
      role,
      created_at,
      expires_at ?? '',
      revoked_at ?? '',
      visible(description ?? ''),
    ]);
    const text = table(
      ['KEY', 'AGENT', 'ROLE', 'CREATED', 'EXPIRES', 'REVOKED', 'DESCRIPTION'],
      rows,
      context.terminal,
    );
    context.terminal.out(options.json ? `${JSON.stringify({ keys })}\n` : text);
    return 0;
  });
}

function revokeCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'keys revoke',
    summary: 'revoke a key at once, including on open streams',
    examples: [`${PROGRAM} keys revoke key-0123456789ab`],
  }).argument('<key_id>', 'as shown by `keys list`');
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options, [keyId = '']) => {
    const connection = await connect(options, context, 'admin');
    const { client } = connection;
    const answer = await talking(connection, 'admin', () =>
      client.admin.keys.revoke(keyId).catch((error: unknown) =>
        noSuchName(error, {
          isIt: (refused) => refused.is('not_found'),
          name: keyId,
          message: `there is no key ${JSON.stringify(keyId)}, or it is already revoked`,
          known: async () =>
            (await client.admin.keys.list()).flatMap((key) => (key.revoked_at === null ? key.key_id : [])),
          list: `${PROGRAM} keys list`,
        }),
      ),
    );
    context.terminal.out(options.json ? `${JSON.stringify(answer)}\n` : `revoked ${keyId}\n`);
    return 0;
  });
}

const TEN_YEARS_MS = 3650 * A_DAY_MS;
