import { resolve } from 'node:path';
import type { AgentDefinition } from '@dragoman/client';
import { isObject, parseJsonBytes } from '@dragoman/protocols';
import { type Command, InvalidArgumentError } from 'commander';
import { A_YEAR, each, integer, PROGRAM } from './command.ts';
import type { Context } from './context.ts';
import { duration } from './duration.ts';
import { readInput, readText } from './input.ts';
import { fail } from './trouble.ts';

/** The options of `agents add` for the identity and driver of an agent. */
export interface AgentFlags {
  readonly mayCall?: readonly string[];
  readonly mayRun?: readonly string[];
  readonly mayUseApi?: readonly string[];
  readonly mayUseCredential?: readonly string[];
  readonly mayUseTool?: readonly string[];
  readonly mayRunWorkflow?: readonly string[];
  readonly limit?: Readonly<Record<string, number>>;
  readonly module?: string;
  readonly agentUrl?: string;
  readonly command?: string;
  /** The URL of a foreign agent's card. */
  readonly card?: string;
  readonly credential?: string;
  readonly yes?: boolean;
  readonly arg?: readonly string[];
  readonly name?: string;
  readonly description?: string;
  readonly skill?: readonly string[];
  readonly maxParallel?: number;
  /** In milliseconds. */
  readonly timeout?: number;
  readonly idempotent?: boolean;
  readonly erc8004?: string;
  /** `false` removes the public key. */
  readonly publicKey?: string | false;
  readonly file?: string;
}

export function withAgentOptions(command: Command): Command {
  return command
    .option('--may-call <agent_id>', 'an agent it may call, * for all; may be repeated', each)
    .option('--may-run <operation>', 'an operation its workflows may use, * for all; may be repeated', each)
    .option('--may-use-api <id>', 'an API its workflows may call, * for all; may be repeated', each)
    .option('--may-use-credential <id>', 'a credential its workflows may use, * for all; may be repeated', each)
    .option('--may-use-tool <name>', 'a tool it may call, * for all; may be repeated', each)
    .option('--may-run-workflow <name>', 'a stored workflow it may run, * for all; may be repeated', each)
    .option('--limit <name=number>', 'a limit, such as requests_per_minute=10; may be repeated', limit)
    .option('--module <file>', 'the agent is a JavaScript file on the machine of the server')
    .option('--agent-url <url>', 'the agent listens at this http(s):// or ws(s):// URL')
    .option('--command <program>', 'the agent is a program that reads and writes NDJSON')
    .option(
      '--card <url>',
      'the agent is a foreign A2A agent with this card URL; the card is shown before the agent is added',
    )
    .option('--credential <id>', 'the vault credential to send to a foreign A2A agent')
    .option('--yes', 'add a foreign A2A agent without confirmation')
    .option('--arg <text>', 'an argument for --command; may be repeated', each)
    .option('--name <text>', 'its display name')
    .option('--description <text>', 'what it does')
    .option('--skill <name>', 'something it can do; may be repeated', each)
    .option('--max-parallel <number>', 'maximum number of concurrent requests (default: 8)', integer({ from: 1 }))
    .option(
      '--timeout <time>',
      'the timeout of one answer: seconds, or a time such as 500ms or 5m',
      duration({ fromMs: 1, toMs: A_YEAR * 1000 }),
    )
    .option(
      '--idempotent',
      'declare that receiving the same request twice does no harm: answers are faster, but after a crash the agent may receive a request again',
    )
    .option('--erc8004 <id>', 'its ERC-8004 agentId in the mailbox, such as eip155:chain:registry:token')
    .option('--public-key <file>', 'a PEM file with its public key for signatures (default: keep the current key)')
    .option('--no-public-key', 'remove its public key')
    .option('--file <file>', 'the whole definition as JSON, instead of options; use - to read it from stdin');
}

/** The agent definition of the options. The server validates it. */
export async function agentDefinition(
  agentId: string | undefined,
  options: AgentFlags,
  context: Context,
): Promise<AgentDefinition> {
  const { file, limit, name, description, skill, maxParallel, timeout, idempotent, erc8004, publicKey } = options;
  if (file !== undefined) return definitionIn(file, agentId, context);
  // Without an id, one is made from the name on the card of a foreign agent.
  if (agentId === undefined && options.card === undefined) {
    fail({
      code: 'usage',
      message: 'an agent needs a name',
      fixes: [`${PROGRAM} agents add AGENT_ID`, `or the whole definition: ${PROGRAM} agents add --file FILE`],
      exitCode: 2,
    });
  }
  return {
    agent_id: agentId ?? UNNAMED,
    permissions: permissionsOf(options),
    ...(limit !== undefined && { limits: { ...limit } }),
    ...driverOf(options, context.folder),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(skill !== undefined && { skills: [...skill] }),
    ...(maxParallel !== undefined && { max_parallel: maxParallel }),
    ...(timeout !== undefined && { timeout_ms: timeout }),
    ...(idempotent === true && { idempotent }),
    ...(erc8004 !== undefined && { agentId: erc8004 }),
    ...(typeof publicKey === 'string' && { public_key: await readText(publicKey, context) }),
  };
}

/** The id until the card of the agent provides a name. */
export const UNNAMED = 'unnamed';

function permissionsOf(options: AgentFlags): AgentDefinition['permissions'] {
  const { mayCall = [], mayRun, mayUseApi, mayUseCredential, mayUseTool, mayRunWorkflow } = options;
  return {
    agents: [...mayCall],
    ...(mayRun !== undefined && { operations: [...mayRun] }),
    ...(mayUseApi !== undefined && { apis: [...mayUseApi] }),
    ...(mayUseCredential !== undefined && { credentials: [...mayUseCredential] }),
    ...(mayUseTool !== undefined && { tools: [...mayUseTool] }),
    ...(mayRunWorkflow !== undefined && { workflows: [...mayRunWorkflow] }),
  };
}

/** Adds one of several limits. The server checks its name. */
function limit(text: string, before: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> {
  const [, name = '', number = ''] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('Give it as NAME=NUMBER, such as requests_per_minute=10.');
  return { ...before, [name]: integer({ from: 1 })(number) };
}

/** The driver that the options for the endpoint select. Without such an option, the agent only calls. */
function driverOf(
  { module, agentUrl, command, arg, card, credential }: AgentFlags,
  folder: string,
): Partial<AgentDefinition> {
  if ([module, agentUrl, command, card].filter((way) => way !== undefined).length > 1) {
    fail({
      code: 'usage',
      message: 'give only one of --module, --agent-url, --command or --card',
      exitCode: 2,
    });
  }
  if (card !== undefined) return { driver: 'a2a', card, ...(credential !== undefined && { credential }) };
  if (module !== undefined) return { driver: 'module', module: resolve(folder, module) };
  if (agentUrl !== undefined) return { driver: /^wss?:/i.test(agentUrl) ? 'e2a-ws' : 'http', url: agentUrl };
  if (command !== undefined) return { driver: 'stdio', command, ...(arg !== undefined && { args: [...arg] }) };
  return {};
}

async function definitionIn(file: string, agentId: string | undefined, context: Context): Promise<AgentDefinition> {
  const parsed = parseJsonBytes(await readInput(file, context));
  if (!parsed.ok) fail({ code: 'not_json', message: `${file} is not JSON`, issues: parsed.issues });
  if (!isObject(parsed.value)) fail({ code: 'invalid_message', message: `${file} must contain a JSON object` });
  return { ...(parsed.value as object), ...(agentId !== undefined && { agent_id: agentId }) } as AgentDefinition;
}
