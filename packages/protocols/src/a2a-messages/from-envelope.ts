import type { Stamp } from '../dialect.ts';
import type { E2AEnvelope } from '../e2a/envelope.ts';
import { holdsSomething } from '../holds-something.ts';
import { isObject } from '../json.ts';
import { lost } from '../lost.ts';
import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { pointerTo } from '../pointer.ts';
import { show } from '../validation.ts';
import { fittingAgentId, isAgentId } from './agent-id.ts';
import { EVERYBODY } from './fields.ts';
import { DRAGOMAN, messageIdOf, namedTarget, timeOf } from './hub.ts';
import type { RequestMessage } from './message.ts';
import { messageIdFrom } from './message-id.ts';
import { RequestPayload } from './payloads.ts';

/** An envelope as an A2A request; its warnings name the fields that a request does not have. */
export function fromEnvelope(envelope: E2AEnvelope, stamp: Stamp): Outcome<RequestMessage> {
  const { method } = envelope;
  if (method === null || method === '') return reject(noMethod());
  const { maxLength } = RequestPayload.properties.method;
  const length = [...method.slice(0, 2 * maxLength + 1)].length;
  if (length > maxLength) return reject(longMethod(maxLength));

  const losses: Issue[] = [];
  const sender = fitted(envelope.source_agent_id ?? DRAGOMAN, '/source_agent_id', losses);
  const target = namedTarget(envelope) ?? NOBODY_NAMED;
  const recipient = target === EVERYBODY ? EVERYBODY : fitted(target, '/agent_ref/id', losses);
  const parameters = envelope.params;
  const message: RequestMessage = {
    message_id: messageIdOf(envelope) ?? messageIdFrom(stamp.id),
    message_type: 'request',
    sender_id: sender,
    recipient_id: recipient,
    timestamp: new Date(timeOf(envelope.timestamp) ?? stamp.now.getTime()).toISOString(),
    payload: { method, ...(Object.keys(parameters).length > 0 && { parameters }) },
    correlation_id: null,
  };
  return accept(message, [...losses, ...lossesOf(envelope, target)]);
}

function fitted(id: string, pointer: string, losses: Issue[]): string {
  if (isAgentId(id)) return id;
  const fitting = fittingAgentId(id);
  losses.push(lost(pointer, `${show(id)} is not an A2A agent id; it is converted to ${show(fitting)}`));
  return fitting;
}

/** Every non-empty field that the request cannot carry. */
function lossesOf(envelope: E2AEnvelope, target: string): Issue[] {
  const losses: Issue[] = [];
  for (const [field, why] of Object.entries(REASONS)) {
    const value = envelope[field as keyof typeof REASONS];
    if (holdsSomething(value)) losses.push(lost(`/${field}`, why));
  }
  const messageId = messageIdOf(envelope);
  for (const field of ['request_id', 'message_id'] as const) {
    const id = envelope[field];
    if (id === null || id === messageId) continue;
    losses.push(
      lost(`/${field}`, `a request has one id, a version 4 UUID; ${show(id)} is converted to ${show(messageId)}`),
    );
  }
  if (envelope.identity_origin === 'system' || envelope.identity_origin === 'service') {
    losses.push(lost('/identity_origin', 'a sender is always an agent'));
  }
  if (envelope.agent_id !== null && envelope.agent_id !== target) {
    losses.push(lost('/agent_id', 'a request names one agent, the one in agent_ref'));
  }
  if (isObject(envelope.agent_ref)) {
    for (const key of Object.keys(envelope.agent_ref)) {
      if (key !== 'id') losses.push(lost(pointerTo('/agent_ref', key), 'an agent is named by its id alone'));
    }
  }
  for (const key of Object.keys(envelope.extras)) losses.push(lost(pointerTo('', key), NO_PLACE));
  return losses;
}

function noMethod(): Issue {
  return { pointer: '/method', code: 'required', message: 'method is required; an A2A request asks for one' };
}

function longMethod(most: number): Issue {
  return { pointer: '/method', code: 'too_long', message: `method must have at most ${most} characters in A2A` };
}

const NO_PLACE = 'an A2A request has no field for it';

/** Fields of the envelope that never reach a request, and why. */
const REASONS = {
  jsonrpc_id: NO_PLACE,
  correlation_id: 'a request is not an answer',
  task_id: NO_PLACE,
  context_id: NO_PLACE,
  session_id: NO_PLACE,
  channel: NO_PLACE,
  user_id: 'a sender is always an agent',
  chat_id: NO_PLACE,
  service_id: NO_PLACE,
  workspace_key: NO_PLACE,
  ext_method: NO_PLACE,
  session_update_kind: NO_PLACE,
  is_stream: 'an A2A answer is a single message',
  expected_output_modes: NO_PLACE,
  auth: 'credentials are not forwarded; an A2A message proves its sender by a signature',
  channel_context: NO_PLACE,
  a2a_metadata: NO_PLACE,
  acp_meta: NO_PLACE,
} as const satisfies Partial<Record<keyof E2AEnvelope, string>>;

/** The recipient of a request without a target: in E2A the server chooses, A2A needs a name. */
const NOBODY_NAMED = 'default-agent';
