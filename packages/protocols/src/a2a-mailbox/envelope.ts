import type { Stamp } from '../dialect.ts';
import { type E2AEnvelope, newEnvelope } from '../e2a/envelope.ts';
import { newProvenance } from '../e2a/provenance.ts';
import { isObject, type JsonObject } from '../json.ts';
import { accept, type Issue, type Outcome, reject } from '../outcome.ts';
import { isMailboxAgentId } from './agent-id.ts';
import type { ContentLimits } from './content-size.ts';
import { lossesOf } from './losses.ts';
import { MAILBOX_VERSION, type MailboxMessage, type MailboxParty, type MailboxSender } from './message.ts';
import { mailboxMessageId } from './message-id.ts';
import { readParams } from './params.ts';
import { customFields, normalise, textIn } from './shorthand.ts';
import { findingsIn, isTolerated } from './validate.ts';

export function mailboxToEnvelope(message: MailboxMessage): E2AEnvelope {
  const { messageId, timestamp, replyTo, threadId } = message.metadata;
  return newEnvelope({
    provenance: newProvenance({
      source_protocol: 'a2a-mailbox',
      converter: 'dragoman',
      details: { version: message.version },
    }),
    request_id: messageId,
    message_id: messageId,
    correlation_id: replyTo,
    session_id: threadId,
    timestamp,
    identity_origin: 'agent',
    channel: 'a2a-mailbox',
    source_agent_id: message.from.name,
    agent_ref: referenceTo(message.to),
    method: 'chat.send',
    params: paramsOf(message),
    channel_context: contextOf(message.from),
  });
}

function paramsOf({ message, metadata }: MailboxMessage): JsonObject {
  const { taskType, priority, expiresAt } = metadata;
  const params: JsonObject = { content: message.content, content_type: message.contentType };
  if (taskType !== undefined) params['task_type'] = taskType;
  params['priority'] = priority;
  if (expiresAt !== null) params['expires_at'] = expiresAt;
  const custom = customFields(metadata);
  if (custom !== undefined) params['metadata'] = custom;
  return params;
}

/** The envelope as a mailbox message. Fields that a mailbox message does not have are listed as lost. */
export function mailboxFromEnvelope(
  envelope: E2AEnvelope,
  stamp: Stamp,
  limits?: ContentLimits,
): Outcome<MailboxMessage> {
  const missing = missingIn(envelope);
  if (missing.length > 0) return reject(...missing);
  const input = inputFrom(envelope, stamp);
  const issues = findingsIn(input, stamp.now, limits).filter((finding) => !isTolerated(finding, false));
  if (issues.length > 0) return reject(...issues.map(inTheEnvelope));
  return accept(normalise(input), lossesOf(envelope));
}

/** The `agent_ref` of a recipient; null if there is none: then the router chooses the default agent. */
function referenceTo({ name, agentId }: MailboxParty): JsonObject | null {
  if (name === null) return agentId === null ? null : { id: agentId };
  return { id: name, ...(agentId !== null && { agentId }) };
}

function recipientIn(reference: JsonObject | null): JsonObject {
  const id = textIn(reference?.['id']);
  if (id === undefined) return {};
  return isMailboxAgentId(id) ? { agentId: id } : { name: id, agentId: textIn(reference?.['agentId']) ?? null };
}

/** The data that routes the answer back. Agents never see the callback URL. */
function contextOf({ agentId, callbackUrl, erc8004AgentId, agentWallet }: MailboxSender): JsonObject {
  const from: JsonObject = {};
  if (agentId !== null) from['agentId'] = agentId;
  if (callbackUrl !== null) from['callbackUrl'] = callbackUrl;
  if (typeof erc8004AgentId === 'string') from['erc8004AgentId'] = erc8004AgentId;
  if (typeof agentWallet === 'string') from['agentWallet'] = agentWallet;
  for (const _ in from) return { from };
  return {};
}

function senderIn({ channel, channel_context: { from } }: E2AEnvelope): JsonObject {
  return channel === 'a2a-mailbox' && isObject(from) ? from : {};
}

function inputFrom(envelope: E2AEnvelope, stamp: Stamp): JsonObject {
  const { content, contentType, taskType, priority, expiresAt, custom } = readParams(envelope.params);
  const task = taskType ?? (envelope.method === 'chat.send' ? undefined : textIn(envelope.method));
  return {
    version: versionOf(envelope),
    from: { ...senderIn(envelope), name: nameOf(envelope) },
    to: recipientIn(envelope.agent_ref),
    message: { ...(contentType !== undefined && { contentType }), content: content ?? null },
    metadata: {
      ...custom,
      messageId: envelope.request_id ?? envelope.message_id ?? mailboxMessageId({ now: stamp.now, random: stamp.id }),
      timestamp: envelope.timestamp ?? stamp.now.toISOString(),
      replyTo: envelope.correlation_id,
      threadId: envelope.session_id,
      ...(task !== undefined && { taskType: task }),
      priority: priority ?? 'normal',
      expiresAt: expiresAt ?? null,
    },
  };
}

function versionOf({ provenance: { source_protocol: source, details } }: E2AEnvelope): string {
  return (source === 'a2a-mailbox' ? textIn(details['version']) : undefined) ?? MAILBOX_VERSION;
}

function nameOf({ source_agent_id: agent, user_id: user }: E2AEnvelope): string | null {
  return agent ?? user;
}

/** The fields that a mailbox message requires. */
function missingIn(envelope: E2AEnvelope): Issue[] {
  const missing: Issue[] = [];
  if ((nameOf(envelope) ?? '').trim() === '') {
    const message = 'source_agent_id is required but missing: a mailbox message names its sender';
    missing.push({ pointer: '/source_agent_id', code: 'required', message });
  }
  if (readParams(envelope.params).content === undefined) {
    const message = 'params.content is required but missing: a mailbox message has content';
    missing.push({ pointer: '/params/content', code: 'required', message });
  }
  return missing;
}

/** The issue with its pointer into the envelope. */
function inTheEnvelope(issue: Issue): Issue {
  return { ...issue, pointer: PLACES.get(issue.pointer) ?? issue.pointer };
}

const PLACES: ReadonlyMap<string, string> = new Map([
  ['/version', '/provenance/details/version'],
  ['/from/name', '/source_agent_id'],
  ['/from/agentId', '/channel_context/from/agentId'],
  ['/from/callbackUrl', '/channel_context/from/callbackUrl'],
  ['/from/erc8004AgentId', '/channel_context/from/erc8004AgentId'],
  ['/from/agentWallet', '/channel_context/from/agentWallet'],
  ['/to/name', '/agent_ref/id'],
  ['/to/agentId', '/agent_ref/agentId'],
  ['/message/content', '/params/content'],
  ['/metadata/messageId', '/request_id'],
  ['/metadata/timestamp', '/timestamp'],
  ['/metadata/replyTo', '/correlation_id'],
  ['/metadata/threadId', '/session_id'],
  ['/metadata/taskType', '/method'],
  ['/metadata/expiresAt', '/params/expires_at'],
]);
