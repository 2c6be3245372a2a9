import { API_METHODS } from '@dragoman/protocols/a2e-workflow';
import type { Filled } from '../schema/with-defaults.ts';
import { REFERENCES } from '../vault/definition.ts';
import { ProcShape } from './proc/proc-config.ts';
import { APPROVALS } from './tool-approvals.ts';

const text = { type: 'string', minLength: 1 } as const;
const texts = { type: 'array', items: text } as const;
const approval = {
  enum: APPROVALS,
  description:
    'Whether a person is asked before each call, before the first one of each caller, or not at all. Default: never.',
} as const;
const positive = { type: 'integer', minimum: 1 } as const;

/** `wire:` in the configuration: where agents connect with plain NDJSON, and the limits of connections. */
export const WireShape = {
  type: 'object',
  description: 'The A2E wire on a TCP port or a unix socket. Default: neither is open.',
  properties: {
    port: { type: 'integer', minimum: 0, maximum: 65_535, description: 'The TCP port; 0 picks a free port.' },
    socket: { ...text, description: 'The path of a unix socket.' },
    max_message_bytes: { ...positive, default: 8_388_608, description: 'The longest line, in bytes.' },
    max_parallel: { ...positive, default: 16, description: 'Requests of one connection that run concurrently.' },
    max_queued: { ...positive, default: 64, description: 'Requests of one connection that may wait.' },
    max_connections: {
      ...positive,
      default: 1000,
      description: 'Connections of all agents together. One caller may have a quarter of them.',
    },
    plugins: { ...texts, default: [], description: 'Files that export plugins, which add message types.' },
    environments: { ...texts, default: [], description: 'Files that export environments for `env/*`.' },
    proc: ProcShape,
    idle_seconds: { ...positive, default: 300, description: 'Idle time after which a connection is closed.' },
  },
  additionalProperties: false,
} as const;

/** The value of a header: a text, or the name of a credential, which the gate replaces. */
const headerValue = {
  type: ['string', 'object'],
  required: ['credential'],
  properties: { credential: text },
  additionalProperties: false,
} as const;

/** One entry of `tools:`: the path of a file with tools, or one tool that something else answers. */
export const ToolEntryShape = {
  type: ['string', 'object'],
  minLength: 1,
  description:
    'A file whose exports are made with defineTool, or a tool that an HTTP endpoint, an agent or a workflow answers.',
  required: ['name'],
  properties: {
    name: { ...text, pattern: '^[a-zA-Z0-9._-]{1,128}$' },
    description: { type: 'string', maxLength: 2000 },
    input: { type: 'object', description: 'JSON Schema of the arguments.' },
    tags: texts,
    idempotent: { type: 'boolean' },
    approval,
    deferred: { type: 'boolean', description: 'Omitted from tool lists and only found by search.' },
    record: {
      enum: ['audit', 'journal'],
      default: 'audit',
      description: 'How calls on the wire are recorded: `journal` keeps every frame, for E2A to read.',
    },
    http: {
      type: 'object',
      description: 'The tool is an HTTP endpoint, called through the gate.',
      required: ['url'],
      properties: {
        url: { ...text, description: 'The URL; {name} is replaced by an argument.' },
        method: { enum: API_METHODS, default: 'POST' },
        headers: { type: 'object', additionalProperties: headerValue, default: {} },
      },
      additionalProperties: false,
    },
    agent: { ...text, description: 'The tool is this agent.' },
    workflow: { ...text, description: 'The tool is the workflow in this file.' },
  },
  additionalProperties: false,
} as const;
export type ToolEntry = Filled<typeof ToolEntryShape>;
export type ConfiguredTool = Exclude<ToolEntry, string>;

/** One entry of `mcp_servers:`, a program or a URL. No part of it ever comes from an agent. */
export const McpServerShape = {
  type: 'object',
  properties: {
    command: {
      ...text,
      description:
        'The program to run, in the folder the server was started in; it speaks MCP on its standard input and output.',
    },
    args: { type: 'array', items: { type: 'string' }, default: [] },
    env: {
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      description: `Environment variables in addition to PATH and HOME. ${REFERENCES}`,
    },
    url: { ...text, description: 'The URL of a Streamable HTTP server, instead of command.' },
    headers: { type: 'object', additionalProperties: headerValue, default: {}, description: REFERENCES },
    tools: { ...texts, description: 'The tools to offer. Default: all.' },
    resources: { ...texts, description: 'The URIs to offer. Default: all.' },
    timeout_ms: { ...positive, default: 300_000, description: 'How long one call may take.' },
    approval,
  },
  additionalProperties: false,
} as const;
/** `tool_approvals:` in the configuration. */
export const ToolApprovalsShape = {
  type: 'array',
  maxItems: 1000,
  description: 'Which tools need the approval of a person. The first entry that names a tool decides.',
  items: {
    type: 'object',
    required: ['tools', 'approval'],
    properties: {
      tools: { ...text, maxLength: 256, description: 'The name of a tool; * matches any characters.' },
      approval,
    },
    additionalProperties: false,
  },
} as const;

export type ConfiguredMcpServer = Filled<typeof McpServerShape>;
