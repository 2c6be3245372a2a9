import { isObject, type JsonObject } from '@dragoman/protocols';
import { isMessage, type MessageOf, type WireMessage } from '@dragoman/protocols/a2e-wire';
import { withoutInvisible } from '../mcp/invisible.ts';
import { mayUseServer } from '../mcp/may-use-server.ts';
import type { McpServer } from '../mcp/mcp-server.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import type { SessionToolkits } from '../session-toolkits.ts';
import type { Answered, WireCall, WirePlugin } from '../wire/plugin.ts';
import { WireRefused } from '../wire/wire-refused.ts';
import { cursorsIn, cursorText } from './mcp-cursor.ts';

export interface McpPluginOptions {
  readonly servers: McpServers;
  readonly toolkits: SessionToolkits;
  /** How long one slow server may delay a list over several servers. Default: ten seconds. */
  readonly patienceMs?: number;
}

/** `mcp/*`: the operator's MCP servers. An agent can name a server, but only the operator defines it. */
export function mcpPlugin(options: McpPluginOptions): WirePlugin {
  const { servers } = options;
  return {
    name: 'mcp',
    capability: 'mcp',
    messages: [
      'mcp/server/list/req',
      'mcp/server/register/req',
      'mcp/server/unregister/req',
      'mcp/resource/list/req',
      'mcp/resource/read/req',
      'mcp/resource/subscribe/req',
      'mcp/prompt/list/req',
      'mcp/prompt/get/req',
    ],
    async handle(message, call) {
      await servers.ready;
      return answer(message, call, options);
    },
    teardown: () => servers[Symbol.asyncDispose](),
  };
}

function answer(message: WireMessage, call: WireCall, options: McpPluginOptions): Answered | Promise<Answered> {
  if (isMessage(message, 'mcp/server/list/req')) return listServers(message, call, options);
  if (isMessage(message, 'mcp/server/register/req')) return register(message, call, options);
  if (isMessage(message, 'mcp/server/unregister/req')) return unregister(message, call, options);
  if (isMessage(message, 'mcp/resource/list/req')) return listResources(message, call, options);
  if (isMessage(message, 'mcp/resource/read/req')) return readResource(message, call, options);
  if (isMessage(message, 'mcp/resource/subscribe/req')) return subscribe(message, call, options);
  if (isMessage(message, 'mcp/prompt/list/req')) return listPrompts(message, call, options);
  if (isMessage(message, 'mcp/prompt/get/req')) return getPrompt(message, call, options);
  return undefined;
}

function listServers(
  { status_filter: status }: MessageOf<'mcp/server/list/req'>,
  call: WireCall,
  options: McpPluginOptions,
) {
  const infos = visible(call, options).map((server) => server.info());
  return { servers: infos.filter((info) => status === '' || info.status === status) as unknown as JsonObject[] };
}

/** Shows a server of the operator's list to this connection again. Definitions by the agent are refused. */
function register(
  { config }: MessageOf<'mcp/server/register/req'>,
  { session }: WireCall,
  { servers, toolkits }: McpPluginOptions,
): Answered {
  const name = config.server_id === '' ? config.name : config.server_id;
  const given = OPERATORS_OWN.filter((field) => !isEmpty(config[field]));
  if (given.length > 0) {
    return {
      ok: false,
      error: `${given.join(', ')} cannot be given by an agent: name a server of the operator's list`,
    };
  }
  const server = servers.server(name);
  if (server === undefined || !mayUseServer(session.principal, name)) {
    const known = [...servers.servers()]
      .filter((one) => mayUseServer(session.principal, one.name))
      .map((one) => one.name);
    const list = known.length === 0 ? 'it is empty' : `it has ${known.join(', ')}`;
    return { ok: false, error: `there is no ${JSON.stringify(name)} in the operator's list; ${list}` };
  }
  toolkits.show(session, name);
  return { ok: true, server: server.info() as JsonObject };
}

/** Hides a server from this connection; it keeps running for the others. */
function unregister(
  { server_id }: MessageOf<'mcp/server/unregister/req'>,
  call: WireCall,
  options: McpPluginOptions,
): Answered {
  const server = serverNamed(server_id, call, options);
  options.toolkits.hide(call.session, server.name);
  return { ok: true, server_id };
}

async function listResources(
  { server_id, cursor }: MessageOf<'mcp/resource/list/req'>,
  call: WireCall,
  options: McpPluginOptions,
): Promise<Answered> {
  const pages = await fromEach({ server_id, cursor }, call, options, 'resources', async (server, from, timeout) => {
    const page = await server.ask(call.signal, (client) =>
      client.listResources(paged(from), { signal: call.signal, timeout }),
    );
    const allowed = page.resources.filter(({ uri }) => server.allowsResource(uri));
    if (isWhole(from, page)) server.count('resources', allowed.length);
    const resources = allowed.map(({ uri, name, description = '', mimeType = '', annotations = {} }) => ({
      uri,
      name,
      description,
      mime_type: mimeType,
      server_id: server.name,
      annotations: annotations as JsonObject,
    }));
    return { items: cleaned(resources), next: page.nextCursor };
  });
  return { resources: pages.items, next_cursor: pages.next };
}

async function readResource(
  { uri, server_id }: MessageOf<'mcp/resource/read/req'>,
  call: WireCall,
  options: McpPluginOptions,
): Promise<Answered> {
  const server = serverNamed(server_id, call, options);
  requireResource(server, uri);
  const { contents } = await server
    .ask(call.signal, (client) => client.readResource(uri, { signal: call.signal, timeout: server.timeoutMs }))
    .catch((error: unknown) => {
      throw isInvalid(error) ? new WireRefused('mcp_resource_not_found', error.message, error.detail) : error;
    });
  return {
    server_id: server.name,
    contents: contents.map(({ uri, mimeType, text = '', blob }) =>
      blob === undefined
        ? { uri, mime_type: mimeType ?? 'text/plain', type: 'text', text }
        : { uri, mime_type: mimeType ?? 'application/octet-stream', type: 'blob', blob },
    ),
  };
}

/** Sends changes of a resource as `mcp/server/push`, as long as the connection lasts. */
async function subscribe(
  { uri, server_id }: MessageOf<'mcp/resource/subscribe/req'>,
  call: WireCall,
  options: McpPluginOptions,
): Promise<Answered> {
  const { session, signal } = call;
  const server = serverNamed(server_id, call, options);
  requireResource(server, uri);
  const emit = (params: JsonObject) => {
    // The connection may have removed the server since, or its caller may have lost the permission.
    if (!visible(call, options).some(({ name }) => name === server.name)) return;
    session.push('mcp/server/push', { server_id: server.name, method: 'notifications/resources/updated', params });
  };
  await server.subscribe(uri, session, emit, { signal, closed: session.closed });
  return { ok: true };
}

async function listPrompts(
  { server_id, cursor }: MessageOf<'mcp/prompt/list/req'>,
  call: WireCall,
  options: McpPluginOptions,
): Promise<Answered> {
  const pages = await fromEach({ server_id, cursor }, call, options, 'prompts', async (server, from, timeout) => {
    const page = await server.ask(call.signal, (client) =>
      client.listPrompts(paged(from), { signal: call.signal, timeout }),
    );
    if (isWhole(from, page)) server.count('prompts', page.prompts.length);
    const prompts = page.prompts.map(({ name, description = '', arguments: args = [] }) => ({
      name,
      description,
      server_id: server.name,
      arguments: args as unknown as JsonObject[],
    }));
    return { items: cleaned(prompts), next: page.nextCursor };
  });
  return { prompts: pages.items, next_cursor: pages.next };
}

async function getPrompt(
  { name, arguments: args, server_id }: MessageOf<'mcp/prompt/get/req'>,
  call: WireCall,
  options: McpPluginOptions,
): Promise<Answered> {
  const server = serverNamed(server_id, call, options);
  const texts = Object.fromEntries(
    Object.entries(args).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
  const { description = '', messages } = await server
    .ask(call.signal, (client) =>
      client.getPrompt({ name, arguments: texts }, { signal: call.signal, timeout: server.timeoutMs }),
    )
    .catch(async (error: unknown) => {
      if (!isInvalid(error)) throw error;
      const code = (await hasPrompt(server, name, call)) ? 'schema_violation' : 'mcp_prompt_not_found';
      throw new WireRefused(code, error.message, error.detail);
    });
  return {
    description: withoutInvisible(description),
    messages: messages as unknown as JsonObject[],
    server_id: server.name,
  };
}

/** MCP reports an unknown name or URI as "invalid params", like arguments that do not fit. */
function isInvalid(error: unknown): error is WireRefused {
  return error instanceof WireRefused && error.detail['mcp_code'] === -32602;
}

/**
 * Whether the server lists a prompt. Checked only after an error, because a server may answer prompts that it does not
 * list.
 */
async function hasPrompt(server: McpServer, name: string, { signal }: WireCall): Promise<boolean> {
  let cursor: string | undefined = '';
  for (let pages = 0; cursor !== undefined && pages < MOST_PAGES; pages++) {
    const from: string = cursor;
    const page = await server
      .ask(signal, (client) => client.listPrompts(paged(from), { signal, timeout: server.timeoutMs }))
      .catch(() => undefined);
    if (page?.prompts.some((prompt) => prompt.name === name) === true) return true;
    cursor = page?.nextCursor;
  }
  signal.throwIfAborted();
  return false;
}

interface Page {
  readonly items: JsonObject[];
  readonly next: string | undefined;
}

/**
 * The page of the named server; without a name, a page of each server. Servers that have more, and those whose page did
 * not fit beside the others, continue on the next page.
 */
async function fromEach(
  { server_id: serverId, cursor }: { readonly server_id: string; readonly cursor: string },
  call: WireCall,
  options: McpPluginOptions,
  capability: 'resources' | 'prompts',
  read: (server: McpServer, cursor: string, timeout: number) => Promise<Page>,
): Promise<{ items: JsonObject[]; next: string }> {
  if (serverId !== '') {
    const server = serverNamed(serverId, call, options);
    const { items, next = '' } = await read(server, cursor, server.timeoutMs);
    return { items, next };
  }
  const { patienceMs = PATIENCE_MS } = options;
  // A server without this capability, or one that fails, must not keep the others from being listed.
  const able = visible(call, options).filter((server) => server.has(capability));
  const [only] = able;
  if (only !== undefined && able.length === 1) {
    const { items, next = '' } = await read(only, cursor, Math.min(only.timeoutMs, patienceMs));
    return { items, next };
  }
  const from = cursor === '' ? undefined : cursorsIn(cursor);
  if (from === undefined && cursor !== '') throw new WireRefused('invalid_message', FOREIGN_CURSOR);
  const chosen = able.filter(({ name }) => from === undefined || from.has(name));
  const faults: unknown[] = [];
  const pageOf = async (server: McpServer): Promise<Page> => {
    try {
      return await read(server, from?.get(server.name) ?? '', Math.min(server.timeoutMs, patienceMs));
    } catch (error) {
      call.signal.throwIfAborted();
      // The answer has no field for errors of single servers.
      const message = error instanceof Error ? error.message : String(error);
      call.log.warn({ mcp_server: server.name, error: message }, `the ${capability} of an MCP server cannot be listed`);
      faults.push(error);
      return { items: [], next: undefined };
    }
  };
  const pages = await Promise.all(chosen.map(pageOf));
  // If all servers failed, an empty list would be wrong.
  if (faults.length > 0 && faults.length === chosen.length) throw faults[0];
  let items: JsonObject[] = [];
  const rest = new Map<string, string>();
  for (const [index, { name }] of chosen.entries()) {
    const page = pages[index];
    if (page === undefined) continue;
    const hasRoom = items.length === 0 || items.length + page.items.length <= MOST_ITEMS;
    if (hasRoom) items = items.concat(page.items);
    if (!hasRoom) rest.set(name, from?.get(name) ?? '');
    else if (page.next !== undefined && page.next !== '') rest.set(name, page.next);
  }
  return { items, next: cursorText(rest) };
}

/** The visible server of this name; without a name, the only one. */
function serverNamed(name: string, call: WireCall, options: McpPluginOptions): McpServer {
  const servers = visible(call, options);
  const found = name === '' && servers.length === 1 ? servers[0] : servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  const known = servers.map((server) => server.name);
  if (name === '' && known.length > 0) {
    throw new WireRefused('mcp_server_not_found', `Say which MCP server by server_id: ${known.join(', ')}.`, {
      servers: known,
    });
  }
  if (name === '') throw new WireRefused('mcp_server_not_found', 'There is no MCP server here.', { servers: known });
  throw new WireRefused('mcp_server_not_found', `There is no MCP server ${JSON.stringify(name)}.`, { servers: known });
}

function visible({ session }: WireCall, { servers, toolkits }: McpPluginOptions): McpServer[] {
  const hidden = toolkits.hiddenFrom(session);
  return [...servers.servers()].filter(({ name }) => !hidden.has(name) && mayUseServer(session.principal, name));
}

function requireResource(server: McpServer, uri: string): void {
  if (server.allowsResource(uri)) return;
  throw new WireRefused('mcp_resource_not_found', `The MCP server ${server.name} has no resource ${uri}.`);
}

function paged(cursor: string): { cursor?: string } {
  return cursor === '' ? {} : { cursor };
}

/** Whether this page is the whole list. */
function isWhole(cursor: string, page: { readonly nextCursor?: string | undefined }): boolean {
  return cursor === '' && page.nextCursor === undefined;
}

function cleaned(items: JsonObject[]): JsonObject[] {
  return items.map((item) => withoutInvisible(item) as JsonObject);
}

function isEmpty(value: unknown): boolean {
  return (
    value === '' || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0)
  );
}

/** Members that would run a program or call an address chosen by the agent, or that are not supported. */
const OPERATORS_OWN = ['cmd', 'cwd', 'env', 'url', 'headers', 'tool_allow_list', 'resource_allow_list'] as const;
/** Maximum items of one page, unless a single server returns more. */
const MOST_ITEMS = 1_000;
/** Maximum pages in which a prompt is searched. */
const MOST_PAGES = 10;
const FOREIGN_CURSOR =
  'cursor must be the next_cursor of a list that named no server; or name the server by server_id.';
const PATIENCE_MS = 10_000;
