import {
  ApiShape,
  ClusterShape,
  DEFAULT_RATE_LIMITS,
  DriverShape,
  GATE_LIMITS,
  LimitsShape,
  McpServerShape,
  ToolApprovalsShape,
  ToolEntryShape,
  WireShape,
  WorkflowsShape,
} from '@dragoman/core';
import type { Static } from '@dragoman/protocols';
import { ENDPOINT_LIMITS } from './endpoint-limits.ts';
import { LfA2aShape } from './lf-a2a-config.ts';
import { MailboxShape } from './mailbox-config.ts';
import { McpShape } from './mcp-config.ts';
import { MessagesShape } from './messages-config.ts';

const text = { type: 'string', minLength: 1 } as const;
const texts = { type: 'array', items: text } as const;
const positive = { type: 'integer', minimum: 1 } as const;

const StoredWorkflowShape = {
  type: 'object',
  required: ['file'],
  properties: {
    file: { ...text, description: 'The workflow as JSON lines; `{{name}}` is an input.' },
    description: { type: 'string', maxLength: 2000 },
  },
  additionalProperties: false,
} as const;

/** The limits of one caller, unless its own `limits` override them. */
const RATE_LIMITS = {
  requests_per_minute: { ...positive, default: DEFAULT_RATE_LIMITS.requests_per_minute },
  requests_per_hour: { ...positive, default: DEFAULT_RATE_LIMITS.requests_per_hour },
  requests_per_day: { ...positive, default: DEFAULT_RATE_LIMITS.requests_per_day },
  api_calls_per_minute: { ...positive, default: DEFAULT_RATE_LIMITS.api_calls_per_minute },
  api_calls_per_hour: { ...positive, default: DEFAULT_RATE_LIMITS.api_calls_per_hour },
} as const;

/** The whole of `dragoman.yaml`. Every key may be left out. */
export const ConfigShape = {
  type: 'object',
  properties: {
    version: {
      enum: [1],
      description:
        'The version of this file format. A file with this key counts as complete, so a reload accepts it even if it has no agents. Put it on the last line.',
    },
    host: { ...text, default: '127.0.0.1', description: 'The address to listen on.' },
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      default: 7420,
      description: 'The port to listen on; 0 picks a free port.',
    },
    admin: {
      type: 'object',
      description: 'A separate listener for administration. Default: the main listener.',
      required: ['port'],
      properties: {
        host: { ...text, default: '127.0.0.1', description: 'The address it listens on.' },
        port: { type: 'integer', minimum: 0, maximum: 65_535, description: 'Its port; 0 picks a free port.' },
      },
      additionalProperties: false,
    },
    store: {
      type: 'string',
      pattern: '^(sqlite|memory|postgres(ql)?://.+)$',
      default: 'sqlite',
      description:
        'Where data is stored: `sqlite` in the data folder, `memory`, which is lost when the server stops, or a PostgreSQL URL such as `postgres://dragoman@db.example.com/dragoman`.',
    },
    cluster: { ...ClusterShape, default: {} },
    default_agent: { ...text, description: 'The agent that receives requests without an agent name.' },
    agents: { type: 'object', additionalProperties: DriverShape, default: {} },
    gate: {
      type: 'object',
      default: {},
      description: 'Outbound requests.',
      properties: {
        allow: {
          ...texts,
          default: [],
          description:
            'Private or plain-http hosts that the APIs, tools, MCP servers, agents and embeddings of this configuration may use: host (port 443) or host:port. URLs that callers give never use this list.',
        },
        callbacks: {
          ...texts,
          default: [],
          description:
            'Private or plain-http hosts that URLs given by others may use: callback URLs, the endpoints of registered agents and further hosts in cards of agents; host (port 443) or host:port. Without any, public https only.',
        },
        ca: {
          anyOf: [text, texts],
          description: 'Files with certificates (PEM) to trust in addition to the default ones.',
        },
        ...GATE_LIMITS,
      },
      additionalProperties: false,
    },
    apis: {
      type: 'object',
      additionalProperties: ApiShape,
      default: {},
      description: 'APIs that workflows may call, by id.',
    },
    knowledge: {
      type: 'object',
      properties: {
        embeddings: {
          type: 'object',
          description: 'An OpenAI-compatible embeddings endpoint, to use instead of the built-in encoder.',
          required: ['url', 'model'],
          properties: { url: text, model: text, credential: { ...text, description: 'A credential of the vault.' } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
    wire: { ...WireShape, default: {} },
    tools: { type: 'array', items: ToolEntryShape, default: [] },
    tool_approvals: { ...ToolApprovalsShape, default: [] },
    mcp_servers: { type: 'object', additionalProperties: McpServerShape, default: {} },
    limits: {
      ...LimitsShape,
      default: {},
      description: 'Rate limits of each caller, in sliding windows, and limits of every connection to the endpoints.',
      properties: { ...RATE_LIMITS, ...ENDPOINT_LIMITS },
    },
    workflows: {
      ...WorkflowsShape,
      default: {},
      properties: {
        ...WorkflowsShape.properties,
        operations: {
          ...texts,
          default: [],
          description: 'Modules with custom operations, exported as `operations`, by name.',
        },
        stored: {
          type: 'object',
          additionalProperties: StoredWorkflowShape,
          default: {},
          description: 'Workflows that callers run by name, with `permissions.workflows`.',
        },
      },
    },
    mailbox: { ...MailboxShape, default: {} },
    messages: { ...MessagesShape, default: {} },
    lf_a2a: { ...LfA2aShape, default: {} },
    mcp: { ...McpShape, default: {} },
    allowed_hosts: {
      ...texts,
      default: [],
      description: 'Host names that clients may use, in addition to the listening address.',
    },
    allowed_origins: {
      type: 'array',
      items: { ...text, pattern: '^[a-z][a-z0-9+.-]*://[^/?#*\\s]+$' },
      default: [],
      description: 'Web origins that may call from a browser, such as https://console.example.com; no wildcards.',
    },
    public_url: {
      ...text,
      pattern: '^https?://[^/?#\\s]+(?:/[^?#\\s]*)?$',
      description:
        'The base URL of this server for clients, such as https://agents.example.com/base; cards and links use it. Default: the URL of the request, or X-Forwarded-Proto, X-Forwarded-Host and X-Forwarded-Prefix of a trusted proxy.',
    },
    trusted_proxies: {
      type: 'array',
      items: text,
      default: [],
      description:
        'Reverse proxies whose X-Forwarded-For, -Proto, -Host and -Prefix are trusted: addresses, or networks such as 10.0.0.0/8.',
    },
    console: { type: 'boolean', default: true, description: 'Serve the web console at `/`.' },
    log: {
      type: 'object',
      default: {},
      description: 'What the server logs.',
      properties: {
        level: {
          enum: ['debug', 'info', 'warn', 'error'],
          default: 'info',
          description: 'The lowest level to log. Lines that agents write to stderr are info.',
        },
        access: {
          type: 'boolean',
          default: false,
          description:
            'Write one log line per HTTP request: method, path, status, duration and caller. `dev` turns it on.',
        },
        e2a: { type: 'boolean', default: false, description: 'Write one log line per E2A response, without secrets.' },
      },
      additionalProperties: false,
    },
    request_timeout_ms: { ...positive, default: 600_000, description: 'How long an agent may take.' },
    answer_bytes: {
      ...positive,
      default: 67_108_864,
      description: 'The longest answer of an agent in bytes, over all its frames.',
    },
    keep_answers_hours: {
      ...positive,
      default: 24,
      description: 'How long finished answers and their sessions are kept.',
    },
  },
  additionalProperties: false,
} as const;
export type Config = Static<typeof ConfigShape>;
