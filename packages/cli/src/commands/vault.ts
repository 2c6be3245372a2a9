import type { CredentialDefinition } from '@dragoman/client';
import { type Command, Option } from 'commander';
import { each, newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { readText } from '../input.ts';
import { noSuchName } from '../no-such-name.ts';
import { table } from '../table.ts';
import { fail } from '../trouble.ts';
import { visible } from '../visible.ts';

export function vaultCommand(context: Context): Command {
  return newCommand(context, {
    name: 'vault',
    summary: 'manage secrets and the hosts they are bound to (needs the admin key)',
    examples: [`${PROGRAM} vault set crm --host api.example.com < token.txt`, `${PROGRAM} vault list`],
  })
    .addCommand(setCommand(context))
    .addCommand(listCommand(context))
    .addCommand(removeCommand(context))
    .addCommand(rotateCommand(context));
}

interface SetOptions extends ConnectionOptions {
  readonly type: CredentialDefinition['type'];
  readonly host?: readonly string[];
  readonly place?: CredentialDefinition['places'];
  readonly description?: string;
}

function setCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'vault set',
    summary: 'create or replace a secret; its value is read from the terminal or stdin and never shown',
    examples: [
      `${PROGRAM} vault set crm --type bearer-token --host api.example.com < token.txt`,
      `printf %s "$TOKEN" | ${PROGRAM} vault set crm --host 10.0.0.7:8080 --place header --place query`,
      `${PROGRAM} vault set model-key --type api-key --place env < key.txt`,
    ],
  })
    .argument('<id>', 'its name in requests')
    // Not the value itself: other users of the machine can read arguments.
    .argument(
      '[value]',
      'leave this argument out, or pass -; never put the secret here. In a terminal the command asks for it, otherwise it reads stdin',
    )
    .addOption(
      new Option(
        '--type <type>',
        'how it is sent: a bearer-token as "Bearer VALUE", any other type as the value alone; one of',
      )
        .choices(['bearer-token', 'api-key', 'password', 'username'])
        .default('bearer-token'),
    )
    .option('--host <host>', 'a host it may be sent to: host (port 443) or host:port; may be repeated', each)
    .option(
      '--place <place>',
      'where it may be used: header, query or body of a request, or env of a program (default: header); may be repeated',
      each,
    )
    .option('--description <text>', 'what it is for');
  withConnectionOptions(command, 'admin');
  return runs<SetOptions>(command, context, async (options, [id = '', given = '-']) => {
    const { type, host: hosts = [], place: places, description } = options;
    if (given !== '-') valueAmongArguments(`set ${id} --host HOST`);
    const value = await valueFor(id, context);
    const definition: CredentialDefinition = {
      type,
      value,
      hosts,
      ...(places !== undefined && { places }),
      ...(description !== undefined && { description }),
    };
    const connection = await connect(options, context, 'admin');
    const credential = await talking(connection, 'admin', () =>
      connection.client.admin.credentials.put(id, definition),
    );
    const users = [
      ...credential.hosts,
      ...(credential.places.includes('env') ? ['programs of the configuration'] : []),
    ];
    const text = `kept ${credential.id}, for ${users.join(', ')}\n`;
    context.terminal.out(options.json ? `${JSON.stringify(credential)}\n` : text);
    return 0;
  });
}

/** The value of a credential, typed without echo in a terminal, otherwise read from stdin. */
async function valueFor(id: string, context: Context): Promise<string> {
  const { askHidden } = context.terminal;
  if (askHidden === undefined) return readText('-', context);
  const typed = await askHidden(`the value of ${visible(id)} (not shown): `);
  if (typed === undefined || typed === '') fail({ code: 'usage', message: 'no value was given; nothing was kept' });
  return typed;
}

function valueAmongArguments(command: string): never {
  fail({
    code: 'usage',
    message: 'a secret is read from stdin, not from the arguments: other users of this machine can see arguments',
    fixes: [`printf %s "$SECRET" | ${PROGRAM} vault ${command}`],
    exitCode: 2,
  });
}

function listCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'vault list',
    summary: 'list all secrets, without values',
    examples: [`${PROGRAM} vault list`],
  });
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options) => {
    const connection = await connect(options, context, 'admin');
    const credentials = await talking(connection, 'admin', () => connection.client.admin.credentials.list());
    const rows = credentials.map(({ id, type, hosts, places, updated_at, description, damaged }) => [
      id,
      damaged === true ? `${type}, DAMAGED` : type,
      hosts.join(', '),
      places.join(', '),
      updated_at,
      visible(description ?? ''),
    ]);
    const text = table(['ID', 'TYPE', 'HOSTS', 'PLACES', 'SET', 'DESCRIPTION'], rows, context.terminal);
    context.terminal.out(options.json ? `${JSON.stringify({ credentials })}\n` : text);
    return 0;
  });
}

function removeCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'vault remove',
    summary: 'remove a secret',
    examples: [`${PROGRAM} vault remove crm`],
  }).argument('<id>', 'as shown by `vault list`');
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options, [id = '']) => {
    const connection = await connect(options, context, 'admin');
    const { credentials } = connection.client.admin;
    const answer = await talking(connection, 'admin', () =>
      credentials.remove(id).catch((error: unknown) =>
        noSuchName(error, {
          isIt: (refused) => refused.is('not_found'),
          name: id,
          message: `there is no credential ${JSON.stringify(id)}`,
          known: async () => (await credentials.list()).map((credential) => credential.id),
          list: `${PROGRAM} vault list`,
        }),
      ),
    );
    context.terminal.out(options.json ? `${JSON.stringify(answer)}\n` : `removed ${id}\n`);
    return 0;
  });
}

function rotateCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'vault rotate',
    summary: 'encrypt every secret with a new vault key, while the server runs',
    examples: [`${PROGRAM} vault rotate`, `printf %s "$NEW_KEY" | ${PROGRAM} vault rotate -`],
  }).argument(
    '[key]',
    'pass - to read the new key from stdin; required if the old key is in DRAGOMAN_VAULT_KEY (default: a new key is generated)',
  );
  withConnectionOptions(command, 'admin');
  return runs<ConnectionOptions>(command, context, async (options, [given]) => {
    if (given !== undefined && given !== '-') valueAmongArguments('rotate -');
    const key = given === undefined ? undefined : await readText('-', context);
    const connection = await connect(options, context, 'admin');
    const answer = await talking(connection, 'admin', () => connection.client.admin.credentials.rotate(key));
    context.terminal.out(options.json ? `${JSON.stringify(answer)}\n` : 'every secret is encrypted with the new key\n');
    return 0;
  });
}
