import type { Stamp } from '../dialect.ts';
import type { E2AEnvelope } from '../e2a/envelope.ts';
import { isEmpty } from '../holds-something.ts';
import { isObject, type JsonObject } from '../json.ts';
import { lost } from '../lost.ts';
import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { parseTimestamp } from '../time.ts';
import { decodeWire } from './decode.ts';
import { isId, LONGEST_ID } from './message.ts';
import { withFields } from './new-message.ts';
import { requestRowOf } from './request-row.ts';
import type { WireMessage } from './type-map.ts';

/** The envelope as a request of this wire: a tool call, unless its method is a type of this wire. */
export function wireFromEnvelope(envelope: E2AEnvelope, stamp: Stamp): Outcome<WireMessage> {
  const { method } = envelope;
  if (method === null) {
    const message = 'method is required: it names the tool to call; got null';
    return reject({ pointer: '/method', code: 'required', message });
  }
  const { type } = requestRowOf(envelope);
  const losses = lossesOf(envelope);
  const id = envelope.request_id ?? '';
  const usable = isId(id);
  if (id !== '' && !usable) {
    const message = `request_id is longer than ${LONGEST_ID} characters, the limit of this wire; a new id replaces it`;
    losses.push(lost('/request_id', message));
  }
  const now = new Date(parseTimestamp(envelope.timestamp ?? '') ?? stamp.now.getTime());
  const message = withFields(type, fieldsOf(type, method, envelope), { id: usable ? id : stamp.id, now });
  const outcome = decodeWire(message as JsonObject, now);
  if (outcome.ok) return accept(outcome.value, losses);
  return { ok: false, issues: outcome.issues.map((issue) => ({ ...issue, pointer: `/params${issue.pointer}` })) };
}

function fieldsOf(type: string, method: string, envelope: E2AEnvelope): JsonObject {
  const { params, is_stream, session_id, correlation_id, provenance } = envelope;
  const shared = {
    ...(is_stream && { streaming: true }),
    ...(session_id !== null && { session_id }),
    ...(correlation_id !== null && { correlation_id }),
  };
  const { timeout, metadata } = provenance.details;
  const limit = typeof timeout === 'number' && timeout >= 0 ? { timeout } : {};
  if (type === 'tool/call/req') return { ...shared, ...limit, tool_name: method, arguments: params };
  if (type === 'skill/call/req') {
    const more = isObject(metadata) ? { metadata } : {};
    // A skill streams by default, so `streaming` is always written.
    return { ...shared, ...limit, ...more, streaming: is_stream, name: method, arguments: params };
  }
  // A type that lacks one of the shared fields gets it as an additional member.
  return { ...shared, ...params };
}

/** The envelope fields that a message of this wire cannot carry. */
function lossesOf(envelope: E2AEnvelope): Issue[] {
  const losses: Issue[] = [];
  for (const field of NO_PLACE) {
    if (envelope[field] === '' || isEmpty(envelope[field])) continue;
    losses.push(lost(`/${field}`, `${field} has no place in an A2E wire request`));
  }
  if (envelope.identity_origin !== 'agent') {
    const message = `identity_origin ${envelope.identity_origin} becomes agent: requests on this wire come from agents`;
    losses.push(lost('/identity_origin', message));
  }
  return losses;
}

// biome-ignore format: a plain list
const NO_PLACE = [
  'jsonrpc_id', 'task_id', 'context_id', 'message_id', 'channel', 'user_id', 'source_agent_id', 'chat_id', 'agent_ref',
  'agent_id', 'service_id', 'workspace_key', 'ext_method', 'session_update_kind', 'expected_output_modes', 'auth',
  'channel_context', 'a2a_metadata', 'acp_meta', 'extras',
] as const satisfies readonly (keyof E2AEnvelope)[];
