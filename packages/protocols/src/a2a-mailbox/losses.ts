import type { E2AEnvelope } from '../e2a/envelope.ts';
import { holdsSomething } from '../holds-something.ts';
import { lost } from '../lost.ts';
import type { Issue } from '../outcome.ts';
import { pointerTo } from '../pointer.ts';
import { readParams } from './params.ts';

/** The fields of an envelope that a mailbox message cannot carry: one remark for each non-empty field. */
export function lossesOf(envelope: E2AEnvelope): Issue[] {
  const whole = WITHOUT_A_PLACE.filter((field) => holdsSomething(envelope[field])).map((field) =>
    lost(`/${field}`, 'a mailbox message has no such field'),
  );
  const parts = [
    ...readParams(envelope.params).lost,
    ...unknownMembers('/agent_ref', envelope.agent_ref, ['id', 'agentId']),
    ...unknownMembers('/channel_context', envelope.channel_context, envelope.channel === 'a2a-mailbox' ? ['from'] : []),
  ].map((pointer) => lost(pointer, 'a mailbox message has no place for it'));
  return [...whole, ...parts, ...changed(envelope)];
}

/** Fields that a mailbox message keeps only in part, or under a name from which they are not restored. */
function changed(envelope: E2AEnvelope): Issue[] {
  const { request_id, message_id, source_agent_id, user_id, method, channel, identity_origin, provenance } = envelope;
  const remarks: Issue[] = [];
  if (request_id !== null && message_id !== null && message_id !== request_id) {
    remarks.push(lost('/message_id', 'a mailbox message has only one id, request_id'));
  }
  if (source_agent_id !== null && holdsSomething(user_id)) {
    remarks.push(lost('/user_id', 'a mailbox message has only one sender, source_agent_id'));
  }
  if (holdsSomething(method) && method !== 'chat.send') {
    remarks.push(lost('/method', 'a mailbox has no methods; the name is kept as metadata.taskType if that was unset'));
  }
  if (holdsSomething(channel) && channel !== 'a2a-mailbox') {
    remarks.push(lost('/channel', 'the source of the message is now the mailbox'));
  }
  // A user's request becomes an agent's without a loss; a system's or a service's origin claims more.
  if (identity_origin === 'system' || identity_origin === 'service') {
    remarks.push(lost('/identity_origin', 'every sender of a mailbox message is an agent'));
  }
  if (provenance.source_protocol !== 'a2a-mailbox' && holdsSomething(provenance.details)) {
    remarks.push(lost('/provenance/details', 'a mailbox message does not record its origin'));
  }
  return remarks;
}

function unknownMembers(parent: string, members: object | null, known: readonly string[]): string[] {
  return Object.entries(members ?? {})
    .filter(([key, value]) => !known.includes(key) && holdsSomething(value))
    .map(([key]) => pointerTo(parent, key));
}

const WITHOUT_A_PLACE = [
  'jsonrpc_id',
  'task_id',
  'context_id',
  'chat_id',
  'agent_id',
  'service_id',
  'workspace_key',
  'ext_method',
  'session_update_kind',
  'is_stream',
  'expected_output_modes',
  'auth',
  'a2a_metadata',
  'acp_meta',
  'extras',
] as const satisfies readonly (keyof E2AEnvelope)[];
