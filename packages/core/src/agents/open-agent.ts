import { show } from '@dragoman/protocols';
import type { DriverDefinition, DriverName } from '../callers/definition.ts';
import { hostPortOf } from '../gate/host-port.ts';
import type { NetworkGate } from '../gate/network-gate.ts';
import type { Pins } from '../pins/pins.ts';
import { LimitedLog } from '../ports/limited-log.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import { endOrphans } from '../processes/orphans.ts';
import type { SessionStore } from '../store/store.ts';
import { References } from '../vault/references.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { openA2aAgent, type PeerPlace } from './a2a/open-a2a-agent.ts';
import { AcpAgent } from './acp/acp-agent.ts';
import { acpChild } from './acp/acp-child.ts';
import { acpStreamableHttp } from './acp/acp-streamable-http.ts';
import type { OpenAcpTransport } from './acp/acp-transport.ts';
import { acpWebSocket } from './acp/acp-websocket.ts';
import type { Agent } from './agent.ts';
import type { AgentSocketHub } from './agent-socket-hub.ts';
import { E2aWsAgent } from './e2a-ws-agent.ts';
import { httpAgent } from './http-agent.ts';
import { loadModuleAgent } from './module-agent.ts';
import { ModelClient } from './openai/model-client.ts';
import { OpenAiAgent } from './openai/openai-agent.ts';
import type { OnPush } from './shared-line.ts';
import { childrenFolder, StdioAgent } from './stdio-agent.ts';
import { timed } from './timed-agent.ts';

/** The services that a driver may use to reach its agent. */
export interface DriverContext {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The folder for data that must outlive the process, such as the pids of child processes. */
  readonly folder: string;
  /** The agents that dial in. */
  readonly hub?: AgentSocketHub;
  /** Receives pushes: frames that answer no request. */
  readonly onPush?: OnPush;
  readonly gate: NetworkGate;
  /** Resolves the references in `env` and `headers`. Default: variables and files, without a vault. */
  readonly references?: References;
  /** The version of this server, for agents that ask for it. */
  readonly version?: string;
  /** Parses the messages of agents. */
  readonly reader?: JsonReader;
  /** The cards of remote agents as they were first seen. */
  readonly pins?: Pins;
  /** The store for conversations of remote agents. */
  readonly sessions?: Pick<SessionStore, 'remote' | 'setRemote' | 'allWith'>;
}

/**
 * Opens an agent. A new driver is a file beside this one and a line in the table. Definitions come from the operator, in the
 * configuration or with an admin key, so the gate allows the host they name for that agent, as if it were in `gate.allow`. An
 * address from anyone else, such as a registering agent, must pass the gate unchanged.
 */
export type Driver = (id: string, definition: DriverDefinition, context: DriverContext) => Promise<Agent>;

const DRIVERS = {
  // A relative path starts at the server's working directory; the config file's loader makes paths absolute first.
  module: (id, definition) => loadModuleAgent({ id, path: needed(id, definition, 'module') }),
  http: async (id, definition, context) => {
    const { clock, ids, gate, reader } = context;
    const url = urlOf(id, definition, 'http');
    const headers = headersOf(id, definition, context);
    return httpAgent({ id, url, headers, clock, ids, reader, gate: gate.allowing([hostPortOf(url)]) });
  },
  'e2a-ws': async (id, definition, context) => {
    if (definition.url !== undefined) {
      const url = urlOf(id, definition, 'ws');
      const headers = headersOf(id, definition, context);
      return new E2aWsAgent({ ...context, id, url, headers, gate: context.gate.allowing([hostPortOf(url)]) });
    }
    // Without a URL the agent dials in.
    return (
      context.hub?.agent(id) ??
      fail(id, 'the e2a-ws driver requires url here, because agents cannot connect to this process')
    );
  },
  // A command without a slash is searched in PATH. A relative command, and relative arguments, start at the server's
  // working directory, which is also that of the program.
  stdio: async (id, definition, context) => {
    endOrphans({ folder: childrenFolder(context.folder), log: context.log });
    const { args = [] } = definition;
    const env = variablesOf(id, definition, context);
    return new StdioAgent({ id, command: needed(id, definition, 'command'), args, env, ...context });
  },
  acp: async (id, definition, context) => {
    const { cwd, auth_method: authMethod, tool_permissions: permissions = {}, workspaces = [] } = definition;
    const { start_timeout_ms: startTimeoutMs = START_TIMEOUT_MS } = definition;
    return new AcpAgent({
      ...context,
      id,
      open: acpOpener(id, definition, context),
      cwd,
      authMethod,
      permissions,
      workspaces,
      access: { files: definition.client_fs ?? 'off', terminals: definition.client_terminal ?? 'off' },
      childrenFolder: childrenFolder(context.folder),
      startTimeoutMs,
      version: context.version ?? '0',
    });
  },
  a2a: async (id, definition, context) => openA2aAgent(id, peerPlace(id, definition, context), context),
  openai: async (id, definition, context) => {
    const { clock, gate, reader = new JsonReader() } = context;
    const { instructions, tools, max_turns: maxTurns, parameters } = definition;
    const base = urlOf(id, definition, 'http', 'base_url');
    const client = new ModelClient({
      ...{ agentId: id, clock, reader },
      url: `${base.href.replace(/\/+$/, '')}/chat/completions`,
      headers: { ...headersOf(id, definition, context), ...keyHeader(id, definition, context) },
      gate: gate.allowing([hostPortOf(base)]),
    });
    const model = needed(id, definition, 'model');
    return new OpenAiAgent({ id, client, model, instructions, tools, maxTurns, parameters, clock });
  },
} satisfies Record<DriverName, Driver>;

/** Some programs need 15 seconds before they answer. */
const START_TIMEOUT_MS = 60_000;

export async function openAgent(id: string, definition: DriverDefinition, context: DriverContext): Promise<Agent> {
  const driver: Driver = DRIVERS[definition.driver];
  const agent = await driver(id, definition, context);
  const { timeout_ms: milliseconds } = definition;
  return milliseconds === undefined ? agent : timed(agent, { milliseconds, clock: context.clock });
}

/** The way to an ACP agent: its program, started as for `stdio`, or a server, over WebSocket or HTTP by its URL. */
function acpOpener(id: string, definition: DriverDefinition, context: DriverContext): OpenAcpTransport {
  const { command, url: address, args = [], cwd, client_fs: files, client_terminal: terminals } = definition;
  const { clock, log, gate, reader = new JsonReader() } = context;
  if ((command === undefined) === (address === undefined)) {
    const got = command === undefined ? 'neither' : 'both';
    fail(id, `the acp driver needs command, a program to run, or url, the URL of an ACP server; got ${got}`);
  }
  if (command !== undefined) {
    endOrphans({ folder: childrenFolder(context.folder), log });
    const limited = new LimitedLog({ log, clock, fields: { agent: id }, perSecond: 50 });
    const folder = childrenFolder(context.folder);
    const env = variablesOf(id, definition, context);
    return acpChild({ id, command, args, env, cwd, childrenFolder: folder, clock, log: limited, reader });
  }
  // A remote program must not read or run anything on this host.
  if (files === 'local' || terminals === 'local') {
    fail(id, `${files === 'local' ? 'client_fs' : 'client_terminal'}: local needs command; got url`);
  }
  const isSocket = /^wss?:/i.test(address ?? '');
  const url = urlOf(id, definition, isSocket ? 'ws' : 'http');
  const headers = headersOf(id, definition, context);
  const remote = { id, url, headers, clock, reader, gate: gate.allowing([hostPortOf(url)]) };
  return isSocket ? acpWebSocket(remote) : acpStreamableHttp(remote);
}

/** `headers`, with their references resolved. */
export function headersOf(
  id: string,
  { headers = {} }: DriverDefinition,
  { references = new References() }: Pick<DriverContext, 'references'>,
) {
  return references.headers(headers, `agents.${id}.headers`);
}

/** `env`, with its references resolved. */
export function variablesOf(
  id: string,
  { env = {} }: DriverDefinition,
  { references = new References() }: DriverContext,
) {
  return references.variables(env, `agents.${id}.env`);
}

/** `key`, as the header that carries it. */
function keyHeader(
  id: string,
  { key }: DriverDefinition,
  { references = new References() }: Pick<DriverContext, 'references'>,
) {
  return key === undefined ? {} : { authorization: references.bearer(key, `agents.${id}.key`) };
}

/** A member that the driver requires. */
export function needed(
  id: string,
  definition: DriverDefinition,
  member: 'module' | 'url' | 'card' | 'command' | 'base_url' | 'model',
): string {
  return definition[member] ?? fail(id, `the ${definition.driver} driver needs ${member}; got ${show(undefined)}`);
}

/** An absolute URL of the scheme or its secure variant, without a password, which would end up in logs. */
function urlOf(
  id: string,
  definition: DriverDefinition,
  scheme: 'http' | 'ws',
  member: 'url' | 'card' | 'base_url' = 'url',
): URL {
  const text = needed(id, definition, member);
  const url = URL.canParse(text) ? new URL(text) : fail(id, `${member} must be absolute; got ${show(text)}`);
  if (url.username !== '' || url.password !== '') fail(id, `${member} must not contain a user name or password`);
  if (url.protocol === `${scheme}:` || url.protocol === `${scheme}s:`) return url;
  return fail(id, `${member} must start with ${scheme}:// or ${scheme}s://; got ${show(text)}`);
}

/** A remote agent is found by its card, or by its URL. */
export function peerPlace(
  id: string,
  definition: DriverDefinition,
  context: Pick<DriverContext, 'references'>,
): PeerPlace {
  const { url, card, version, credential } = definition;
  const headers = headersOf(id, definition, context);
  if ((url === undefined) === (card === undefined)) {
    fail(
      id,
      `the a2a driver needs url, the URL of the agent, or card, the URL of its card; got ${url === undefined ? 'neither' : 'both'}`,
    );
  }
  const member = card === undefined ? 'url' : 'card';
  return { url: urlOf(id, definition, 'http', member), isCard: member === 'card', version, headers, credential };
}

function fail(id: string, what: string): never {
  throw new Error(`agent ${id}: ${what}`);
}
