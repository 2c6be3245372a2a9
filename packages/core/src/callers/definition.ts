import type { Static } from '@dragoman/protocols';
import { AgentId } from '@dragoman/protocols/a2a-messages';
import { REFERENCES } from '../vault/definition.ts';

const names = { type: 'array', items: { type: 'string', minLength: 1, maxLength: 256 }, maxItems: 1000 } as const;
const positive = { type: 'integer', minimum: 1 } as const;

/** A header: a text, or the name of a secret that the gate fills in. */
const HeaderValue = {
  type: ['string', 'object'],
  required: ['credential'],
  properties: { credential: { type: 'string', minLength: 1 } },
  additionalProperties: false,
} as const;
const A2A_VERSIONS = ['1.0', '0.3'] as const;

/** The drivers. The members that a driver needs are checked when the agent is opened. */
export const DRIVERS = ['module', 'http', 'e2a-ws', 'stdio', 'a2a', 'acp', 'openai'] as const;
export type DriverName = (typeof DRIVERS)[number];

/** The members of an agent that define its driver and its description, in the config and in administration. */
export const DriverShape = {
  type: 'object',
  required: ['driver'],
  properties: {
    driver: { enum: DRIVERS, description: 'How the agent is reached.' },
    module: { type: 'string', minLength: 1, description: 'module: the file whose default export is the agent.' },
    url: {
      type: 'string',
      minLength: 1,
      description:
        'http, e2a-ws, a2a: where the agent listens. acp: an ACP server, over a WebSocket for ws:// and wss://, over Streamable HTTP for http:// and https://.',
    },
    card: {
      type: 'string',
      minLength: 1,
      description: 'a2a: the URL of the agent card. Default: `/.well-known/agent-card.json` below `url`.',
    },
    version: {
      enum: A2A_VERSIONS,
      description:
        'a2a: the version to speak. With `url`, no card is read and JSON-RPC is sent there. Default: the version in the card.',
    },
    credential: {
      type: 'string',
      minLength: 1,
      description:
        'a2a: the vault credential that authenticates this server. It is sent in the header that the card names. Default header: `Authorization`.',
    },
    command: { type: 'string', minLength: 1, description: 'stdio, acp: the program to run.' },
    args: { type: 'array', items: { type: 'string' } },
    env: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: `stdio, acp: environment variables in addition to PATH and HOME. ${REFERENCES}`,
    },
    headers: {
      type: 'object',
      additionalProperties: HeaderValue,
      description: `http, e2a-ws, a2a, acp, openai: headers of every request to the agent, as text or as \`{ credential: ID }\`. ${REFERENCES} a2a: headers written as text are sent to the host of \`url\` or \`card\` only.`,
    },
    base_url: {
      type: 'string',
      minLength: 1,
      description:
        "openai: the base URL of a server that speaks OpenAI's API, such as http://127.0.0.1:11434/v1. `/chat/completions` is added to it.",
    },
    model: { type: 'string', minLength: 1, maxLength: 256, description: 'openai: the name of the model.' },
    key: {
      type: 'string',
      minLength: 1,
      description: `openai: the API key, sent as \`Authorization: Bearer\`. ${REFERENCES} A vault credential is sent as defined in the vault.`,
    },
    instructions: {
      type: 'string',
      maxLength: 65_536,
      description: 'openai: the system prompt.',
    },
    tools: {
      ...names,
      description:
        'openai: the tools that the model may call, if the caller may use them too. `*` matches any text; `files/*` is every tool of the MCP server `files`. Default: none.',
    },
    max_turns: {
      ...positive,
      maximum: 100,
      description:
        'openai: the maximum number of model calls for one answer; each call after the first has the results of tool calls. Default: 8.',
    },
    parameters: {
      type: 'object',
      description: 'openai: additional parameters of every request to the model, such as `temperature`.',
    },
    cwd: {
      type: 'string',
      minLength: 1,
      description: 'acp: the folder the program works in. Default: one for each session, in the data folder.',
    },
    workspaces: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      maxItems: 100,
      description: 'acp: folders that a client may choose to work in, with everything below them. Default: none.',
    },
    client_fs: {
      enum: ['off', 'local', 'caller'],
      description:
        'acp: where the program may read and write text files, below the folder of its session: `local`, on this server; `caller`, through the editor of the caller, if it supports this. Default: `off`; the program accesses files itself.',
    },
    client_terminal: {
      enum: ['off', 'local', 'caller'],
      description:
        'acp: where the program may run commands, in the folder of its session: `local`, on this server; `caller`, through the editor of the caller, if it supports this. They end with the turn. Default: `off`; the program runs commands itself.',
    },
    auth_method: {
      type: 'string',
      minLength: 1,
      description: 'acp: the id of the authentication method, as advertised by the program.',
    },
    start_timeout_ms: {
      ...positive,
      description: 'acp: how long the program may take to start and to answer `initialize`. Default: 60000.',
    },
    tool_permissions: {
      type: 'object',
      additionalProperties: { enum: ['allow', 'ask', 'deny'] },
      description:
        'acp: what to do when the program requests permission, for each kind of tool: read, edit, delete, move, search, execute, think, fetch, switch_mode, other. Default: allow for read, search, think and fetch, ask a person for the others.',
    },
    name: { type: 'string', minLength: 1, maxLength: 100 },
    description: { type: 'string', maxLength: 500 },
    skills: names,
    agentId: { type: 'string', minLength: 1, description: 'Its ERC-8004 id, for the mailbox.' },
    max_parallel: { ...positive, description: 'Maximum number of concurrent requests; others wait. Default: 8.' },
    timeout_ms: { ...positive, description: 'How long one answer may take.' },
    idempotent: {
      type: 'boolean',
      description:
        'The same request may reach the agent twice, for example after a crash. Requests then need one commit instead of two.',
    },
  },
  additionalProperties: false,
} as const;
export type DriverDefinition = Static<typeof DriverShape>;

export const LimitsShape = {
  type: 'object',
  description: 'Rate limits of one caller, in sliding windows.',
  properties: {
    requests_per_minute: positive,
    requests_per_hour: positive,
    requests_per_day: positive,
    api_calls_per_minute: positive,
    api_calls_per_hour: positive,
  },
  additionalProperties: false,
} as const;

/** The body of `POST /admin/v1/agents`: a caller, a target, or both. */
export const AgentBody = {
  type: 'object',
  required: ['agent_id', 'permissions'],
  properties: {
    // `decodeAgentDefinition` also refuses reserved names.
    agent_id: AgentId,
    permissions: {
      type: 'object',
      description: 'The resources it may use, by name. "*" means all; an empty or absent list means none.',
      properties: { operations: names, apis: names, credentials: names, agents: names, tools: names, workflows: names },
      additionalProperties: false,
    },
    limits: LimitsShape,
    public_key: {
      type: 'string',
      maxLength: 16_384,
      description:
        'SPKI PEM: Ed25519, ECDSA P-256 or RSA. Two of them, one after the other, while one replaces the other.',
    },
    ...DriverShape.properties,
  },
  additionalProperties: false,
} as const;
export type AgentBody = Static<typeof AgentBody>;

/** The body of `POST /admin/v1/keys`. Members that an admin key does not need are ignored and may have any value. */
export const NewKeyRequest = {
  type: 'object',
  properties: {
    agent_id: { description: 'The id of an existing agent. Not needed for an admin key.' },
    role: { description: '`"admin"` creates an admin key; any other value creates a key of the agent.' },
    description: {
      description: 'What the key is for: a string without NUL. Any other value is ignored.',
      pattern: '^[^\\u0000]*$',
    },
    expires_in_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: 315_360_000,
      description: 'How long the key may be used. Default: until it is revoked.',
    },
  },
} as const;
export type NewKeyRequest = Static<typeof NewKeyRequest>;
