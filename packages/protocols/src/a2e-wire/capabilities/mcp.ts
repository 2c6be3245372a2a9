import {
  type Complete,
  choice,
  flag,
  list,
  number,
  object,
  record,
  records,
  req_id,
  requiredName,
  seconds,
  string,
  stringMap,
  strings,
  text,
} from '../fields.ts';
import { answer, type Namespace, notice, request } from '../message-row.ts';

export const MCP_TRANSPORTS = ['stdio', 'sse', 'ws'] as const;
export const MCP_SERVER_STATUSES = ['connecting', 'ready', 'error', 'disconnected'] as const;

/**
 * An agent's description of the server it wants. A host uses only the name of an allowed server, never a
 * command, an environment or an address from the wire.
 */
export const McpServerConfig = object({
  server_id: text(''),
  name: text(''),
  transport: choice(MCP_TRANSPORTS, 'stdio'),
  cmd: strings,
  cwd: text(''),
  env: stringMap,
  url: text(''),
  headers: stringMap,
  timeout: seconds(300),
  auto_reconnect: flag(true),
  // An empty list allows everything.
  tool_allow_list: strings,
  resource_allow_list: strings,
});
export type McpServerConfig = Complete<typeof McpServerConfig>;

/** The state of a server. Its fields have no defaults, because an unknown count is not zero. */
export const McpServerInfo = object({
  server_id: string,
  name: string,
  transport: { enum: MCP_TRANSPORTS },
  status: { enum: MCP_SERVER_STATUSES },
  mcp_version: string,
  server_name: string,
  server_version: string,
  tools_count: { type: 'integer', minimum: 0 },
  resources_count: { type: 'integer', minimum: 0 },
  prompts_count: { type: 'integer', minimum: 0 },
  last_ping_ms: { type: 'number' },
  error: string,
  connected_at: { type: 'number' },
});
export type McpServerInfo = Complete<typeof McpServerInfo>;

export const McpResource = object(
  {
    uri: requiredName,
    name: text(''),
    description: text(''),
    mime_type: text(''),
    server_id: text(''),
    annotations: record,
  },
  ['uri'],
);
export const McpResourceContent = object(
  {
    uri: string,
    mime_type: text('text/plain'),
    text: text(''),
    blob: text(''),
    type: choice(['text', 'blob'], 'text'),
  },
  ['uri'],
);
export const McpPrompt = object(
  { name: requiredName, description: text(''), server_id: text(''), arguments: records },
  ['name'],
);
export const McpRoot = object({ uri: requiredName, name: text('') }, ['uri']);

export const ServerListRequest = object({ status_filter: choice(['', ...MCP_SERVER_STATUSES], '') });
export const ServerListResponse = object({ req_id, servers: list(McpServerInfo) });
export const ServerRegisterRequest = object({ config: McpServerConfig }, ['config']);
export const ServerRegisterResponse = object({
  req_id,
  ok: flag(false),
  server: { ...McpServerInfo, default: {} },
  error: text(''),
});
export const ServerUnregisterRequest = object({ server_id: requiredName }, ['server_id']);
export const ServerUnregisterResponse = object({ req_id, ok: flag(false), server_id: text('') });
export const ServerPush = object({ server_id: text(''), method: text(''), params: record });

export const ResourceListRequest = object({ server_id: text(''), cursor: text('') });
export const ResourceListResponse = object({ req_id, resources: list(McpResource), next_cursor: text('') });
export const ResourceReadRequest = object({ uri: requiredName, server_id: text('') }, ['uri']);
export const ResourceReadResponse = object({
  req_id,
  contents: list(McpResourceContent),
  server_id: text(''),
  error: text(''),
});
export const ResourceSubscribeRequest = object({ uri: requiredName, server_id: text('') }, ['uri']);
export const ResourceSubscribeResponse = object({ req_id, ok: flag(false), error: text('') });

export const PromptListRequest = object({ server_id: text(''), cursor: text('') });
export const PromptListResponse = object({ req_id, prompts: list(McpPrompt), next_cursor: text('') });
export const PromptGetRequest = object({ name: requiredName, arguments: record, server_id: text('') }, ['name']);
export const PromptGetResponse = object({
  req_id,
  description: text(''),
  messages: records,
  server_id: text(''),
  error: text(''),
});

/** Sent by the host, for a server that wants the agent's model to complete something. */
export const SampleRequest = object({
  server_id: text(''),
  mcp_request_id: text(''),
  messages: records,
  model_preferences: record,
  system_prompt: text(''),
  include_context: choice(['none', 'thisServer', 'allServers'], 'none'),
  temperature: number(1),
  max_tokens: { type: 'integer', minimum: 1, default: 1024 },
  stop_sequences: strings,
  metadata: record,
});
/** The agent may refuse by setting `error`. */
export const SampleResponse = object({
  req_id,
  server_id: text(''),
  mcp_request_id: text(''),
  role: choice(['user', 'assistant'], 'assistant'),
  content: record,
  model: text(''),
  stop_reason: text(''),
  error: text(''),
});
export const RootListRequest = object({ server_id: text(''), mcp_request_id: text('') });
export const RootListResponse = object({ req_id, server_id: text(''), mcp_request_id: text(''), roots: list(McpRoot) });

export const mcp = {
  capability: 'mcp',
  types: {
    'mcp/server/list/req': request(ServerListRequest, 'mcp/server/list/resp'),
    'mcp/server/list/resp': answer(ServerListResponse),
    'mcp/server/register/req': request(ServerRegisterRequest, 'mcp/server/register/resp', { changes: true }),
    'mcp/server/register/resp': answer(ServerRegisterResponse),
    'mcp/server/unregister/req': request(ServerUnregisterRequest, 'mcp/server/unregister/resp', { changes: true }),
    'mcp/server/unregister/resp': answer(ServerUnregisterResponse),
    'mcp/server/push': notice(ServerPush, 'host'),
    'mcp/resource/list/req': request(ResourceListRequest, 'mcp/resource/list/resp'),
    'mcp/resource/list/resp': answer(ResourceListResponse),
    'mcp/resource/read/req': request(ResourceReadRequest, 'mcp/resource/read/resp'),
    'mcp/resource/read/resp': answer(ResourceReadResponse),
    'mcp/resource/subscribe/req': request(ResourceSubscribeRequest, 'mcp/resource/subscribe/resp'),
    'mcp/resource/subscribe/resp': answer(ResourceSubscribeResponse),
    'mcp/prompt/list/req': request(PromptListRequest, 'mcp/prompt/list/resp'),
    'mcp/prompt/list/resp': answer(PromptListResponse),
    'mcp/prompt/get/req': request(PromptGetRequest, 'mcp/prompt/get/resp'),
    'mcp/prompt/get/resp': answer(PromptGetResponse),
    'mcp/sample/req': request(SampleRequest, 'mcp/sample/resp', { from: 'host' }),
    'mcp/sample/resp': answer(SampleResponse, 'agent'),
    'mcp/root/list/req': request(RootListRequest, 'mcp/root/list/resp', { from: 'host' }),
    'mcp/root/list/resp': answer(RootListResponse, 'agent'),
  },
  // The protocol's index page writes `sampling` instead of `sample`.
  aliases: { 'mcp/sampling/req': 'mcp/sample/req', 'mcp/sampling/resp': 'mcp/sample/resp' },
} as const satisfies Namespace;
