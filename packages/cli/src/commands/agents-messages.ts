import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type AgentIdentity, createClient } from '@dragoman/client';
import { isObject, type JsonObject, parseJson } from '@dragoman/protocols';
import { type Command, Option } from 'commander';
import { callHints } from '../call-hints.ts';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, findServer, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { readText } from '../input.ts';
import { printable } from '../paint.ts';
import { table } from '../table.ts';
import { fail } from '../trouble.ts';

/** Makes the key an agent signs with. */
export function keygenCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents keygen',
    summary: 'a new key to sign A2A messages with; its public half is for the operator',
    examples: [`${PROGRAM} agents keygen --out desk.pem`],
  })
    .requiredOption('--out <file>', 'where the private key goes, for its owner only; never one that is there')
    .addOption(new Option('--kind <kind>', 'of the key').choices(Object.keys(KINDS)).default('ed25519'));
  return runs<{ out: string; kind: keyof typeof KINDS }>(command, context, async ({ out, kind, json }) => {
    const { privateKey, publicKey } = KINDS[kind]();
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    try {
      const text = privateKey.export({ format: 'pem', type: 'pkcs8' });
      writeFileSync(resolve(context.folder, out), text, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
      const message = `${out}: ${isThere ? 'there is a file of this name' : 'it cannot be written'}`;
      fail({ code: 'unwritable', message, fixes: ['name another file with --out'] });
    }
    if (json) context.terminal.out(`${JSON.stringify({ private_key: out, public_key: pem })}\n`);
    else {
      context.terminal.note(`the private key is in ${out}; the public one, for agents add --public-key:\n`);
      context.terminal.out(pem);
    }
    return 0;
  });
}

export function registerCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents register',
    summary: 'put an agent in the registry, by its card and where it listens',
    examples: [`${PROGRAM} agents register --card card.json --endpoint https://desk.example.com/a2a/messages`],
  })
    .requiredOption('--card <file>', 'its card, JSON; - reads it from stdin')
    .requiredOption('--endpoint <url>', 'where it listens');
  withConnectionOptions(command, 'agent');
  return runs<ConnectionOptions & { card: string; endpoint: string }>(command, context, async (options) => {
    const card = objectIn(await readText(options.card, context), '--card');
    const connection = await connect(options, context, 'agent');
    const agent = connection.client.agent({ agentId: String(card['agent_id']) });
    const answer = await talking(connection, 'agent', () => agent.register(card, options.endpoint));
    context.terminal.out(
      options.json ? `${JSON.stringify(answer)}\n` : `${answer.status} ${printable(String(card['agent_id']))}\n`,
    );
    return 0;
  });
}

export function discoverCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents discover',
    summary: 'healthy agents by what they can do',
    examples: [`${PROGRAM} agents discover --capability data_read`],
  })
    .option('--capability <name>', 'what it must be able to do')
    .option('--name <part>', 'a part of its name')
    .option('--limit <number>', 'how many at most (10)', Number);
  withConnectionOptions(command, 'agent');
  type Options = ConnectionOptions & { capability?: string; name?: string; limit?: number };
  return runs<Options>(command, context, async ({ capability, name, limit, ...options }) => {
    const connection = await connect(options, context, 'agent');
    const messages = connection.client.agent({ agentId: '' });
    const agents = await talking(connection, 'agent', () => messages.registered({ capability, name, limit }));
    const rows = agents.map(({ agent_card: card, endpoint, source }) => [
      printable(String(card['agent_id'])),
      printable(String(card['name'])),
      printable((card['capabilities'] as string[]).join(', ')),
      source === 'configured' ? 'this server' : printable(endpoint),
    ]);
    const text = options.json
      ? `${JSON.stringify({ agents })}\n`
      : table(['AGENT', 'NAME', 'CAPABILITIES', 'LISTENS AT'], rows);
    context.terminal.out(text);
    return 0;
  });
}

export function callCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents call',
    summary: 'ask an agent by an A2A request, with a key or signed',
    examples: [
      `${PROGRAM} agents call echo say --as desk --params '{"content":"hello"}'`,
      `${PROGRAM} agents call echo say --as desk --sign desk.pem`,
    ],
  })
    .argument('<agent_id>', 'whom to ask')
    .argument('<method>', 'what to do')
    .requiredOption('--as <agent_id>', 'who asks: the agent the key is for')
    .option('--params <json>', 'what the method needs, a JSON object; - reads it from stdin ({})')
    .option('--sign <file>', 'the private key to sign with, in place of an API key');
  withConnectionOptions(command, 'agent');
  type Options = ConnectionOptions & { as: string; params?: string; sign?: string };
  return runs<Options>(command, context, async (options, [agentId = '', method = '']) => {
    const text = options.params === '-' ? await readText('-', context) : (options.params ?? '{}');
    const parameters = objectIn(text, '--params');
    const sign =
      options.sign === undefined ? undefined : await signingWith(await readText(options.sign, context), options.sign);
    const identity: AgentIdentity = { agentId: options.as, ...(sign !== undefined && { sign }) };
    const connection = sign === undefined ? await connect(options, context, 'agent') : unkeyed(options, context);
    const agent = connection.client.agent(identity);
    const data = await talking(
      connection,
      'agent',
      () => agent.request(agentId, method, parameters),
      (error) => callHints(error, { as: options.as, agentId, sign: options.sign }),
    );
    context.terminal.out(`${JSON.stringify(data, null, options.json ? 0 : 2)}\n`);
    return 0;
  });
}

function unkeyed(options: ConnectionOptions, context: Context) {
  const { url } = findServer(options, context);
  return { client: createClient({ url }), url, key: '', keySource: '--sign' };
}

async function signingWith(pem: string, file: string): Promise<NonNullable<AgentIdentity['sign']>> {
  // Only who signs pays for loading it.
  const { privateKeyIn, signedBy } = await import('@dragoman/core');
  const key = privateKeyIn(pem);
  if (key !== undefined) return (bytes) => signedBy(key, bytes);
  fail({
    code: 'no_key',
    message: `${file} is no private key in PEM, of Ed25519, ECDSA P-256 or RSA`,
    fixes: [`make one with: ${PROGRAM} agents keygen`],
  });
}

function objectIn(text: string, option: string): JsonObject {
  const json = parseJson(text);
  if (json.ok && isObject(json.value)) return json.value;
  fail({ code: 'usage', message: `${option} must be a JSON object`, exitCode: 2 });
}

const KINDS = {
  ed25519: () => generateKeyPairSync('ed25519'),
  p256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  rsa: () => generateKeyPairSync('rsa', { modulusLength: 3072 }),
};
