import { type E2AEnvelope, type E2AProvenance, encodeEnvelope, newEnvelope } from '@dragoman/protocols';
import { hasNoMembers } from '../json/is-empty.ts';

/**
 * The text of an envelope as it is recorded: without the fields that have their default values, to keep every commit
 * small. JSON omits the members that are `undefined`.
 */
export function envelopeRecord(envelope: E2AEnvelope): string {
  if (!hasNoMembers(envelope.extras)) return JSON.stringify(encodeEnvelope(envelope));
  return JSON.stringify({
    protocol_version: envelope.protocol_version === DEFAULTS.protocol_version ? undefined : envelope.protocol_version,
    provenance: isDefault(envelope.provenance) ? undefined : envelope.provenance,
    request_id: envelope.request_id ?? undefined,
    jsonrpc_id: envelope.jsonrpc_id ?? undefined,
    correlation_id: envelope.correlation_id ?? undefined,
    task_id: envelope.task_id ?? undefined,
    context_id: envelope.context_id ?? undefined,
    session_id: envelope.session_id ?? undefined,
    message_id: envelope.message_id ?? undefined,
    timestamp: envelope.timestamp ?? undefined,
    identity_origin: envelope.identity_origin === DEFAULTS.identity_origin ? undefined : envelope.identity_origin,
    channel: envelope.channel ?? undefined,
    user_id: envelope.user_id ?? undefined,
    source_agent_id: envelope.source_agent_id ?? undefined,
    chat_id: envelope.chat_id ?? undefined,
    agent_ref: envelope.agent_ref ?? undefined,
    agent_id: envelope.agent_id ?? undefined,
    service_id: envelope.service_id ?? undefined,
    workspace_key: envelope.workspace_key ?? undefined,
    method: envelope.method ?? undefined,
    params: hasNoMembers(envelope.params) ? undefined : envelope.params,
    ext_method: envelope.ext_method ?? undefined,
    session_update_kind: envelope.session_update_kind ?? undefined,
    is_stream: envelope.is_stream ? true : undefined,
    expected_output_modes: hasNoMembers(envelope.expected_output_modes) ? undefined : envelope.expected_output_modes,
    auth: envelope.auth ?? undefined,
    channel_context: hasNoMembers(envelope.channel_context) ? undefined : envelope.channel_context,
    a2a_metadata: hasNoMembers(envelope.a2a_metadata) ? undefined : envelope.a2a_metadata,
    acp_meta: hasNoMembers(envelope.acp_meta) ? undefined : envelope.acp_meta,
  } satisfies Recorded);
}

/** Reads what `envelopeRecord` wrote. This server wrote it, so it is not checked again. */
export function recordedEnvelope(record: string): E2AEnvelope {
  return newEnvelope(JSON.parse(record));
}

/** Every field must be listed, so a new field of the envelope is a type error here. */
type Recorded = { [Field in Exclude<keyof E2AEnvelope, 'extras'>]: E2AEnvelope[Field] | undefined };

function isDefault(provenance: E2AProvenance): boolean {
  for (const name in provenance) {
    if (name === 'details') {
      if (!hasNoMembers(provenance.details)) return false;
    } else if (provenance[name as keyof E2AProvenance] !== DEFAULTS.provenance[name as keyof E2AProvenance])
      return false;
  }
  return true;
}

const DEFAULTS = newEnvelope();
