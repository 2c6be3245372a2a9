// One message of about 1 KB of each dialect, as a peer would send it, and the same shape written in Zod.
import { z } from 'zod';
import type { Json } from '../../packages/protocols/src/json.ts';

export interface Sample {
  readonly dialect: string;
  /** Its name in the table, where a dialect has several. */
  readonly title?: string;
  readonly message: Json;
  /** The compiled validator that reads it, by its name in the dialect's `schemas.ts`. */
  readonly validator: string;
  readonly schemaId: string;
  /** The part of the message the validator takes. */
  readonly validated: (message: Json) => Json;
  /** The same rules, by hand. */
  readonly zod: z.ZodType;
}

const whole = (message: Json): Json => message;
const base = 'https://dragoman.example/schemas';
const text = z.string();
const textOrNull = z.string().nullable();
const open = z.record(z.string(), z.unknown());

const PROSE =
  'Please look through the order book of last week, group the open positions by customer and tell me which of them ' +
  'need a call before Friday. Leave out everything below fifty euros, and name the three largest first.';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it refuses
const ONE_LINE = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/;
const line = text.min(1).max(500).regex(ONE_LINE);
const agentId = text.regex(/^eip155:\d+:0x[a-fA-F0-9]{40}:\d+$/).nullable();
const time = z.iso.datetime({ offset: true }).nullable();

const mailbox = z.strictObject({
  version: text.min(1).max(32).optional(),
  messageId: line.nullable().optional(),
  timestamp: time.optional(),
  from: z.union([
    line,
    z.strictObject({
      name: line,
      agentId: agentId.optional(),
      callbackUrl: z
        .url({ protocol: /^https$/ })
        .max(2048)
        .nullable()
        .optional(),
      erc8004AgentId: line.nullable().optional(),
      agentWallet: text
        .regex(/^0x[a-fA-F0-9]{40}$/)
        .nullable()
        .optional(),
    }),
  ]),
  to: z
    .union([line, z.null(), z.strictObject({ name: line.nullable().optional(), agentId: agentId.optional() })])
    .optional(),
  message: z.union([
    text.min(1),
    z.strictObject({
      contentType: z.enum(['text/plain', 'application/json', 'text/markdown']).optional(),
      content: z.unknown(),
    }),
  ]),
  metadata: z
    .looseObject({
      messageId: line.nullable().optional(),
      timestamp: time.optional(),
      replyTo: line.nullable().optional(),
      threadId: line.nullable().optional(),
      taskType: line.optional(),
      priority: z.enum(['urgent', 'normal', 'low']).optional(),
      expiresAt: time.optional(),
    })
    .optional(),
});

export const MESSAGES: readonly Sample[] = [
  {
    dialect: 'e2a',
    validator: 'Envelope',
    schemaId: `${base}/e2a/envelope.json`,
    validated: whole,
    message: {
      protocol_version: '1.0',
      provenance: { source_protocol: 'e2a', converter: null, converted_at: null, details: {} },
      request_id: 'req_7f3c1a9e5b2d4c60',
      session_id: 'sess_20260328_0007',
      message_id: 'om_dc13264520392913993dd051dba21dcf',
      timestamp: '2026-03-28T12:00:00+00:00',
      identity_origin: 'user',
      channel: 'web',
      user_id: 'u_001',
      method: 'chat.send',
      is_stream: true,
      agent_ref: { mode: 'agent', id: 'coder' },
      params: {
        content: PROSE,
        query: PROSE,
        mode: 'agent',
        attachments: [
          { uri: 'https://files.example/orders.csv', name: 'orders.csv', mime_type: 'text/csv', size: 48_211 },
          { uri: 'https://files.example/customers.csv', name: 'customers.csv', mime_type: 'text/csv', size: 9_120 },
        ],
      },
      channel_context: { locale: 'en-GB', client: 'console/1.4' },
    },
    zod: z.object({
      protocol_version: text.optional(),
      provenance: z
        .object({
          source_protocol: text.min(1).optional(),
          converter: textOrNull.optional(),
          converted_at: textOrNull.optional(),
          details: open.optional(),
        })
        .optional(),
      request_id: textOrNull.optional(),
      jsonrpc_id: z.union([text, z.int(), z.null()]).optional(),
      correlation_id: textOrNull.optional(),
      task_id: textOrNull.optional(),
      context_id: textOrNull.optional(),
      session_id: textOrNull.optional(),
      message_id: textOrNull.optional(),
      timestamp: z.iso.datetime({ offset: true }).nullable().optional(),
      identity_origin: z.enum(['system', 'user', 'agent', 'service']).optional(),
      channel: textOrNull.optional(),
      user_id: textOrNull.optional(),
      source_agent_id: textOrNull.optional(),
      chat_id: textOrNull.optional(),
      agent_ref: open.nullable().optional(),
      agent_id: textOrNull.optional(),
      service_id: textOrNull.optional(),
      workspace_key: textOrNull.optional(),
      method: textOrNull.optional(),
      params: open.optional(),
      ext_method: textOrNull.optional(),
      session_update_kind: textOrNull.optional(),
      is_stream: z.boolean().optional(),
      expected_output_modes: z.array(text).optional(),
      auth: open.nullable().optional(),
      channel_context: open.optional(),
      a2a_metadata: open.optional(),
      acp_meta: open.optional(),
    }),
  },
  {
    dialect: 'a2a-messages',
    validator: 'RequestMessage',
    schemaId: `${base}/a2a-messages/request-message.json`,
    validated: whole,
    message: {
      message_id: 'a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40',
      message_type: 'request',
      sender_id: 'client-agent-001',
      recipient_id: 'crypto-agent-001',
      timestamp: '2026-03-28T12:00:00.000Z',
      payload: {
        method: 'summarise_positions',
        parameters: {
          instruction: PROSE,
          customers: ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald'],
          window: { from: '2026-03-20', to: '2026-03-27', minimum: 50 },
          options: { currency: 'EUR', largest_first: true, limit: 3, include: ['open', 'overdue'] },
        },
      },
      correlation_id: null,
      auth: {
        agent_id: 'client-agent-001',
        timestamp: '2026-03-28T12:00:00.000Z',
        nonce: 'a1b2c3d4e5f678901234567890123456',
        signature: 'gYyqr7oGzQVtYkF3nS8vW1bXcE5mHjKlP9dRtUaZxC0uIoLpQwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUiOpAA==',
        public_key_fingerprint: 'sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      },
    },
    zod: z.strictObject({
      message_id: text.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      message_type: z.literal('request'),
      sender_id: text
        .min(3)
        .max(128)
        .regex(/^[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]$/),
      recipient_id: text
        .min(1)
        .max(128)
        .regex(/^(?:\*|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])$/),
      timestamp: z.iso.datetime().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{3})?Z$/),
      payload: z.strictObject({ method: text.min(1).max(128), parameters: open.optional() }),
      correlation_id: z.null().optional(),
      auth: z
        .strictObject({
          agent_id: text.min(3).max(128),
          timestamp: z.iso.datetime(),
          nonce: text.regex(/^[0-9a-f]{32}$/),
          signature: text,
          public_key_fingerprint: text.optional(),
        })
        .optional(),
    }),
  },
  {
    dialect: 'a2a-mailbox',
    validator: 'Input',
    schemaId: `${base}/a2a-mailbox/input.json`,
    validated: whole,
    message: {
      version: '0.3.0',
      from: {
        name: 'OrderDesk',
        agentId: 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:12345',
        callbackUrl: 'https://orders.example/a2a/responses',
      },
      message: {
        contentType: 'application/json',
        content: {
          task: 'analyze',
          instruction: PROSE,
          networks: ['base', 'ethereum'],
          customers: ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald'],
          note: PROSE,
          window: { from: '2026-03-20', to: '2026-03-27', minimum: 50 },
        },
      },
      metadata: {
        threadId: 'thread_analysis_1',
        priority: 'urgent',
        expiresAt: '2026-03-28T13:00:00.000Z',
      },
    },
    zod: mailbox,
  },
  {
    dialect: 'a2a-mailbox',
    title: 'a2a-mailbox, all fields',
    validator: 'Input',
    schemaId: `${base}/a2a-mailbox/input.json`,
    validated: whole,
    message: {
      version: '0.3.0',
      from: {
        name: 'OrderDesk',
        agentId: 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:12345',
        callbackUrl: 'https://orders.example/a2a/responses',
      },
      to: { name: 'Mr. Tee', agentId: 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:14482' },
      message: { contentType: 'text/plain', content: `${PROSE} ${PROSE}` },
      metadata: {
        messageId: 'msg_orderdesk_20260328_0007',
        timestamp: '2026-03-28T12:00:00.000Z',
        replyTo: 'msg_orderdesk_20260327_0112',
        threadId: 'thread_analysis_1',
        taskType: 'analysis',
        priority: 'urgent',
        expiresAt: '2026-03-28T13:00:00.000Z',
        region: 'emea',
      },
    },
    zod: mailbox,
  },
  {
    dialect: 'a2e-wire',
    validator: 'ToolCallReq',
    schemaId: `${base}/a2e-wire/tool-call-req.json`,
    validated: whole,
    message: {
      a2e: '1.0',
      version: '1.0',
      type: 'tool/call/req',
      id: '5f0c6a4d9e1b4c7d8a2f3b6c7d8e9f01',
      ts: 1774699200.25,
      session_id: 'c0ffee00c0ffee00c0ffee00c0ffee00',
      tool_name: 'orders__summarise',
      arguments: {
        instruction: PROSE,
        customers: ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald'],
        window: { from: '2026-03-20', to: '2026-03-27', minimum: 50 },
        options: { currency: 'EUR', largest_first: true, limit: 3, include: ['open', 'overdue'] },
        note: PROSE,
      },
      correlation_id: 'trace-0007',
      streaming: true,
      timeout: 30,
    },
    zod: z.looseObject({
      a2e: text.optional(),
      version: text.optional(),
      type: z.literal('tool/call/req'),
      id: text.min(1).max(256),
      ts: z.number().min(0).optional(),
      session_id: text.optional(),
      tool_name: text.optional(),
      arguments: open,
      correlation_id: text.optional(),
      streaming: z.boolean().optional(),
      timeout: z.number().min(0).optional(),
    }),
  },
  {
    dialect: 'a2e-workflow',
    validator: 'ApiCall',
    schemaId: `${base}/a2e-workflow/api-call.json`,
    validated: (message) => (message as { operation: { ApiCall: Json } }).operation.ApiCall,
    message: {
      type: 'operationUpdate',
      operationId: 'fetch-open-orders',
      operation: {
        ApiCall: {
          method: 'POST',
          url: 'https://api.example.com/v2/customers/{/workflow/customer/id}/orders',
          headers: {
            Authorization: { credentialRef: { id: 'orders-api-key' } },
            'Content-Type': 'application/json',
            'X-Request-Reason': 'weekly summary of open positions',
          },
          body: {
            instruction: PROSE,
            customers: ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald'],
            window: { from: '2026-03-20', to: '2026-03-27', minimum: 50 },
            options: { currency: 'EUR', largest_first: true, limit: 3, include: ['open', 'overdue'] },
          },
          outputPath: '/workflow/open-orders',
          timeout: 15_000,
        },
      },
    },
    zod: z.strictObject({
      method: z.enum(['GET', 'POST', 'PUT', 'DELETE', 'PATCH']),
      url: text.min(1),
      headers: z
        .record(
          text,
          z.union([
            text,
            z.strictObject({ path: text }),
            z.strictObject({ credentialRef: z.strictObject({ id: text.min(1) }) }),
          ]),
        )
        .optional(),
      query: open.optional(),
      body: z.unknown().optional(),
      outputPath: text.regex(/^\/workflow\//),
      timeout: z.int().min(1000).max(300_000).optional(),
      idempotencyKey: text.optional(),
    }),
  },
];
