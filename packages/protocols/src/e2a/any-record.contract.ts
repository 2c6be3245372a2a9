import fc from 'fast-check';
import type { Json, JsonObject } from '../json.ts';
import { type E2AEnvelope, IDENTITY_ORIGINS, newAuth, newEnvelope } from './envelope.ts';
import { newProvenance } from './provenance.ts';
import { type E2AResponse, newResponse, RESPONSE_STATUSES, type ResponseKind } from './response.ts';
import { A2A_STREAM_BRANCHES, DELTA_KINDS } from './response-body.ts';

// Generates any record that a program could have, to test properties that all records must have.

const text = fc.string({ maxLength: 12 });
const name = fc.string({ minLength: 1, maxLength: 12 });
const textOrNull = fc.option(text);
const trimmedOrNull = fc.option(fc.stringMatching(/^[a-z0-9]{1,8}( [a-z]{1,4})?$/));
// JSON has no negative zero, so each value is written and read once.
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
const part = fc.dictionary(fc.string({ maxLength: 8 }), json, { maxKeys: 4 }) as fc.Arbitrary<JsonObject>;
const timestamp = fc.option(
  fc
    .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true })
    .map((date) => date.toISOString()),
);
const id = fc.option(fc.oneof(text, fc.maxSafeInteger()));
const extras = fc.dictionary(fc.stringMatching(/^x_[a-z]{1,6}$/), json, { maxKeys: 3 }) as fc.Arbitrary<JsonObject>;

const provenance = fc
  .record({ source_protocol: name, converter: textOrNull, converted_at: textOrNull, details: part })
  .map(newProvenance);

const auth = fc
  .record({
    method_id: textOrNull,
    bearer_token: textOrNull,
    api_key_ref: textOrNull,
    credential_ref: textOrNull,
    extra_headers: fc.dictionary(fc.stringMatching(/^[a-z-]{1,8}$/), text, { maxKeys: 2 }),
    _meta: part,
  })
  .map(newAuth);

export const anyEnvelope: fc.Arbitrary<E2AEnvelope> = fc
  .record(
    {
      provenance,
      request_id: textOrNull,
      jsonrpc_id: id,
      correlation_id: textOrNull,
      task_id: textOrNull,
      context_id: textOrNull,
      session_id: textOrNull,
      message_id: textOrNull,
      timestamp,
      identity_origin: fc.constantFrom(...IDENTITY_ORIGINS),
      channel: textOrNull,
      user_id: textOrNull,
      source_agent_id: textOrNull,
      chat_id: textOrNull,
      agent_ref: fc.option(part),
      agent_id: trimmedOrNull,
      service_id: trimmedOrNull,
      workspace_key: trimmedOrNull,
      method: fc.option(fc.oneof(text, fc.constantFrom('session/prompt', 'chat.send', 'ext', 'history.get'))),
      params: part,
      ext_method: textOrNull,
      session_update_kind: textOrNull,
      is_stream: fc.boolean(),
      expected_output_modes: fc.array(text, { maxLength: 3 }),
      auth: fc.option(auth),
      channel_context: part,
      a2a_metadata: part,
      acp_meta: part,
      extras,
    },
    { requiredKeys: [] },
  )
  .map(newEnvelope);

const BODIES: Readonly<Record<ResponseKind, fc.Arbitrary<JsonObject>>> = {
  'e2a.complete': json.map((result) => ({ result })),
  'e2a.chunk': fc
    .record({ delta_kind: fc.constantFrom(...DELTA_KINDS), delta: fc.oneof(text, part) })
    .map((body): JsonObject => ({ ...body })),
  'e2a.error': fc
    .record({ code: fc.oneof(text, fc.integer()), message: text, details: json })
    .map((body): JsonObject => ({ ...body })),
  'acp.session_update': fc
    .record({ sessionId: text, update: name.map((kind) => ({ sessionUpdate: kind })) })
    .map((body): JsonObject => ({ ...body })),
  'acp.prompt_result': name.map((reason) => ({ stop_reason: reason })),
  'acp.jsonrpc_error': fc.record({ code: fc.integer(), message: text }).map((body): JsonObject => ({ ...body })),
  'acp.output_request': fc.record({ method: name, params: part }).map((body): JsonObject => ({ ...body })),
  'a2a.task': name.map((taskId) => ({ id: taskId, status: { state: 'TASK_STATE_WORKING' } })),
  'a2a.message': fc.array(part, { maxLength: 2 }).map((parts) => ({ role: 'ROLE_AGENT', parts })),
  'a2a.stream_event': fc
    .record({ branch: fc.constantFrom(...A2A_STREAM_BRANCHES), payload: part })
    .map((body): JsonObject => ({ ...body })),
  cron: textOrNull.map((status) => ({ status })),
  'plan.approval_required': textOrNull.map((plan) => ({ plan_content: plan })),
  ext: name.map((method) => ({ ext_method: method })),
};

const kindAndBody = fc.oneof(
  ...Object.entries(BODIES).map(([response_kind, body]) =>
    fc.record({ response_kind: fc.constant(response_kind), body }),
  ),
  fc.record({ response_kind: fc.stringMatching(/^acme\.[a-z]{0,6}$/), body: part }),
);

export const anyResponse: fc.Arbitrary<E2AResponse> = fc
  .tuple(
    fc.record(
      {
        response_id: textOrNull,
        request_id: textOrNull,
        sequence: fc.integer({ min: -1, max: 1_000_000 }),
        is_final: fc.boolean(),
        status: fc.constantFrom(...RESPONSE_STATUSES),
        timestamp,
        provenance,
        jsonrpc_id: id,
        correlation_id: textOrNull,
        task_id: textOrNull,
        context_id: textOrNull,
        session_id: textOrNull,
        message_id: textOrNull,
        is_stream: fc.boolean(),
        identity_origin: fc.constantFrom(...IDENTITY_ORIGINS),
        channel: textOrNull,
        user_id: textOrNull,
        agent_ref: fc.option(part),
        source_agent_id: textOrNull,
        method: textOrNull,
        projections: part,
        channel_context: part,
        metadata: part,
        a2a_metadata: part,
        acp_meta: part,
        extras,
      },
      { requiredKeys: [] },
    ),
    kindAndBody,
  )
  .map(([record, body]) => newResponse({ ...record, ...body }));
