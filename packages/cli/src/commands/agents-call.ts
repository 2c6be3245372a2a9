import type { AgentIdentity } from '@dragoman/client';
import type { Command } from 'commander';
import { callHints } from '../call-hints.ts';
import { newCommand, PROGRAM, runs } from '../command.ts';
import { type ConnectionOptions, connect, connectUnkeyed, talking, withConnectionOptions } from '../connection.ts';
import type { Context } from '../context.ts';
import { objectOption, readText } from '../input.ts';
import { fail } from '../trouble.ts';
import { visible } from '../visible.ts';

export function callCommand(context: Context): Command {
  const command = newCommand(context, {
    name: 'agents call',
    summary: 'send an agent an A2A request, with a key or signed',
    examples: [
      `${PROGRAM} agents call echo say --as desk --params '{"content":"hello"}'`,
      `${PROGRAM} agents call echo say --as desk --sign desk.pem`,
    ],
  })
    .argument('<agent_id>', 'the agent to call')
    .argument('<method>', 'the method to call')
    .requiredOption('--as <agent_id>', 'the calling agent: the one the key is for')
    .option('--params <json>', 'the parameters of the method, a JSON object; - reads them from stdin (default: {})')
    .option('--sign <file>', 'the private key to sign with, in place of an API key');
  withConnectionOptions(command, 'agent');
  type Options = ConnectionOptions & { as: string; params?: string; sign?: string };
  return runs<Options>(command, context, async (options, [agentId = '', method = '']) => {
    const parameters = await objectOption('--params', options.params, context);
    const sign =
      options.sign === undefined ? undefined : await signingWith(await readText(options.sign, context), options.sign);
    const identity: AgentIdentity = { agentId: options.as, ...(sign !== undefined && { sign }) };
    const connection =
      sign === undefined
        ? await connect(options, context, 'agent')
        : await connectUnkeyed(options, context, { keySource: '--sign' });
    const agent = connection.client.agent(identity);
    const data = await talking(
      connection,
      'agent',
      () => agent.request(agentId, method, parameters),
      (error) => callHints(error, { as: options.as, agentId, sign: options.sign }),
    );
    context.terminal.out(`${options.json ? JSON.stringify(data) : visible(JSON.stringify(data, null, 2))}\n`);
    return 0;
  });
}

async function signingWith(pem: string, file: string): Promise<NonNullable<AgentIdentity['sign']>> {
  // Loaded on use: only signing needs it.
  const { privateKeyIn, signedBy } = await import('@dragoman/core');
  const key = privateKeyIn(pem);
  if (key !== undefined) return (bytes) => signedBy(key, bytes);
  fail({
    code: 'no_key',
    message: `${file} is not a PEM private key (Ed25519, ECDSA P-256 or RSA)`,
    fixes: [`make one with: ${PROGRAM} agents keygen`],
  });
}
