import {
  ApiShape,
  DriverShape,
  GATE_LIMITS,
  LimitsShape,
  McpServerShape,
  ToolEntryShape,
  WireShape,
  WorkflowsShape,
} from '@dragoman/core';
import type { Static } from '@dragoman/protocols';
import { DOOR_LIMITS } from './door-limits.ts';
import { MailboxShape } from './mailbox-config.ts';
import { MessagesShape } from './messages-config.ts';

const text = { type: 'string', minLength: 1 } as const;
const texts = { type: 'array', items: text } as const;
const positive = { type: 'integer', minimum: 1 } as const;

/** The whole of `dragoman.yaml`. Every key may be left out. */
const StoredWorkflowShape = {
  type: 'object',
  required: ['file'],
  properties: {
    file: { ...text, description: 'JSON lines; `{{name}}` is an input.' },
    description: { type: 'string', maxLength: 2000 },
  },
  additionalProperties: false,
} as const;

export const ConfigShape = {
  type: 'object',
  properties: {
    version: {
      enum: [1],
      description:
        'The version of this file format. A file with this key counts as complete, so a reload accepts it even if it has no agents. Put it on the last line.',
    },
    host: { ...text, description: 'The address to listen on; 127.0.0.1 unless told.' },
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65_535,
      description: 'The port to listen on; 7420 unless told, 0 for any free one.',
    },
    admin: {
      type: 'object',
      description: 'A listener of its own for the administration; unless told it is where everything else is.',
      required: ['port'],
      properties: {
        host: { ...text, description: 'The address it listens on; 127.0.0.1 unless told.' },
        port: { type: 'integer', minimum: 0, maximum: 65_535, description: 'Its port; 0 for any free one.' },
      },
      additionalProperties: false,
    },
    store: { enum: ['sqlite', 'memory'], description: 'sqlite unless told; memory forgets everything when it stops.' },
    default_agent: { ...text, description: 'Answers what names no agent.' },
    agents: { type: 'object', additionalProperties: DriverShape },
    gate: {
      type: 'object',
      description: 'The way out to the network.',
      properties: {
        allow: {
          ...texts,
          description:
            'Private or plain-http hosts that the APIs, tools, MCP servers, agents and embeddings of this configuration may use: host (port 443) or host:port. URLs that callers give never use this list.',
        },
        callbacks: {
          ...texts,
          description:
            'Private or plain-http hosts that URLs given by callers may use: callback URLs and the endpoints of registered agents; host (port 443) or host:port. Default: [], public https only.',
        },
        ca: {
          anyOf: [text, texts],
          description: 'Files with certificates (PEM) to trust beside the usual ones.',
        },
        ...GATE_LIMITS,
      },
      additionalProperties: false,
    },
    apis: { type: 'object', additionalProperties: ApiShape, description: 'APIs that workflows may call, by id.' },
    knowledge: {
      type: 'object',
      properties: {
        embeddings: {
          type: 'object',
          description: 'An endpoint with the embeddings API of OpenAI, in place of the encoder that is installed.',
          required: ['url', 'model'],
          properties: { url: text, model: text, credential: { ...text, description: 'A credential of the vault.' } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
    wire: WireShape,
    tools: { type: 'array', items: ToolEntryShape },
    mcp_servers: { type: 'object', additionalProperties: McpServerShape },
    limits: {
      ...LimitsShape,
      description: 'How much one caller may do, in sliding windows, and what every peer may take of the doors.',
      properties: { ...LimitsShape.properties, ...DOOR_LIMITS },
    },
    workflows: {
      ...WorkflowsShape,
      properties: {
        ...WorkflowsShape.properties,
        operations: { ...texts, description: 'Modules that export operations of your own as `operations`, by name.' },
        stored: {
          type: 'object',
          additionalProperties: StoredWorkflowShape,
          description: 'Workflows that callers run by name, with `permissions.workflows`.',
        },
      },
    },
    mailbox: MailboxShape,
    messages: MessagesShape,
    allowed_hosts: { ...texts, description: 'Host names clients may use, beside the address listened on.' },
    allowed_origins: {
      type: 'array',
      items: { ...text, pattern: '^[a-z][a-z0-9+.-]*://[^/?#*\\s]+$' },
      description: 'Web origins that may call from a browser, such as https://console.example.com; each by its name.',
    },
    trusted_proxies: {
      type: 'array',
      items: text,
      description: 'Reverse proxies whose X-Forwarded-For is believed: addresses, or networks such as 10.0.0.0/8.',
    },
    request_timeout_ms: { ...positive, description: 'How long an agent may take; 10 minutes unless told.' },
    keep_answers_hours: {
      ...positive,
      description: 'How long finished answers and their sessions are kept; 24 unless told.',
    },
  },
  additionalProperties: false,
} as const;
export type Config = Static<typeof ConfigShape>;
