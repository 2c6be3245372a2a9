import { hash } from 'node:crypto';
import {
  type E2AEnvelope,
  type E2AResponse,
  isObject,
  type Json,
  type JsonObject,
  newEnvelope,
  parseTimestamp,
} from '@dragoman/protocols';
import {
  acknowledgement,
  isMailboxResponse,
  type MailboxMessage,
  type MailboxResponse,
  mailboxDialect,
} from '@dragoman/protocols/a2a-mailbox';
import type { Principal } from '../call/principal.ts';
import { isBuiltIn } from '../call/target.ts';
import { recordedEnvelope } from '../runs/envelope-record.ts';
import { frameText } from '../runs/frame-text.ts';
import { textOf, withStreamed } from '../runs/streamed-text.ts';
import type { RequestKey, RequestRow } from '../store/store.ts';
import { targetRequest } from '../targets/target-request.ts';
import type { MailboxIdentity } from './directory.ts';

/** The parts of a request that determine its answer, in any process and after any restart. */
export interface MailboxRequest {
  readonly owner: string;
  readonly requestId: string;
  readonly acceptedAt: number;
  readonly envelope: E2AEnvelope;
}

/** The request of a recorded row; `undefined` for a request of another protocol. */
export function mailboxRequestIn(row: RequestRow): MailboxRequest | undefined {
  const envelope = recordedEnvelope(row.envelope);
  if (envelope.channel !== 'a2a-mailbox') return undefined;
  return { owner: row.owner, requestId: row.requestId, acceptedAt: row.acceptedAt, envelope };
}

/**
 * The request of this message; for a repeat, the request as first recorded. The answering agent may have been renamed in
 * between, and the answer names it as it was then.
 */
export function mailboxRequestOf(row: RequestRow, envelope: E2AEnvelope, isRepeat: boolean): MailboxRequest {
  const { owner, requestId, acceptedAt } = row;
  if (!isRepeat) return { owner, requestId, acceptedAt, envelope };
  const earlier = mailboxRequestIn(row);
  if (earlier === undefined) throw new Error('a message of the mailbox was recorded as something else');
  return earlier;
}

interface Addressing {
  readonly target: string | undefined;
  readonly from: MailboxIdentity;
  readonly sender: Principal;
  /** Warnings for the sender, in every answer to the message. */
  readonly warnings?: readonly string[];
}

/** The envelope of a message, with its target and the return address of the answer. */
export function mailboxEnvelopeOf(
  message: MailboxMessage,
  { target, from, sender, warnings = [] }: Addressing,
): E2AEnvelope {
  const envelope = mailboxDialect.toEnvelope(message) ?? newEnvelope();
  const { priority, expiresAt } = message.metadata;
  const { provenance } = envelope;
  const given = envelope.channel_context['from'];
  const { name, agentId } = from;
  const context: JsonObject = {
    from: isObject(given) ? { ...given, name: message.from.name } : { name: message.from.name },
    priority,
    // Every driver passes it on, so the agent knows that the sender's name is not proven.
    ...(sender.kind === 'anonymous' && { anonymous: true }),
  };
  if (expiresAt !== null) context['expires_at'] = expiresAt;
  return {
    ...envelope,
    // The address as sent: the configuration decides which agent it means, and repeats are recognised by what was sent.
    provenance: {
      ...provenance,
      details: {
        ...provenance.details,
        to: { ...message.to },
        ...(warnings.length > 0 && { warnings: [...warnings] }),
      },
    },
    source_agent_id: sender.kind === 'anonymous' ? null : sender.id,
    // The mailbox answers in one piece; others may read the frames.
    is_stream: true,
    ...(isBuiltIn(target) && targetRequest(target, message.message.content, '/message/content')),
    agent_ref: target === undefined ? { name, agentId } : { id: target, name, agentId },
    channel_context: context,
  };
}

/** The final frame of an answer, with the streamed text when the frame has none: a mailbox returns answers in one piece. */
export async function finalOf(
  frames: AsyncIterable<E2AResponse>,
  seen: (frame: E2AResponse) => unknown = () => {},
): Promise<E2AResponse> {
  let text = '';
  let isTooLong = false;
  for await (const frame of frames) {
    const seeing = seen(frame);
    if (seeing instanceof Promise) await seeing;
    if (frame.is_final) {
      const hasText = withStreamed(frame, null) === frame;
      if (hasText) isTooLong = frameText(frame).length > MAX_CHARACTERS;
      if (isTooLong) return tooLong(frame);
      return hasText || text === '' ? frame : withStreamed(frame, text);
    }
    const part = textOf(frame);
    isTooLong ||= text.length + part.length > MAX_CHARACTERS;
    text = isTooLong ? '' : text + part;
  }
  throw new Error('an answer ended without its final frame');
}

/** The final frame as the mailbox's response. */
export function mailboxAnswerOf(request: MailboxRequest, final: E2AResponse): MailboxResponse {
  const [response] = mailboxDialect.fromResponse(final, request.envelope);
  if (response === undefined || !isMailboxResponse(response)) throw new Error('a final frame has no mailbox response');
  const ended = final.timestamp === null ? undefined : parseTimestamp(final.timestamp);
  const processingTime =
    response.metadata.processingTime ?? (ended === undefined ? null : Math.max(0, ended - request.acceptedAt));
  return {
    ...response,
    from: answeringIdentity(request),
    to: { ...response.to, name: messageSenderOf(request).name ?? null },
    metadata: { ...response.metadata, processingTime, ...warningsOf(request) },
  };
}

/** The "received" acknowledgement. A repeat gets an identical one. */
export function acknowledgementOf(request: MailboxRequest, message: MailboxMessage): MailboxResponse {
  const stamp = { id: randomOf(request), now: new Date(request.acceptedAt) };
  const response = acknowledgement(message, { from: answeringIdentity(request), stamp });
  return { ...response, metadata: { ...response.metadata, ...warningsOf(request) } };
}

function warningsOf({ envelope }: MailboxRequest): { warnings?: Json } {
  const { warnings } = envelope.provenance.details;
  return warnings === undefined ? {} : { warnings };
}

/** When the message that this id acknowledges was accepted; `undefined` when the id is not that of an acknowledgement. */
export function acknowledgedAt(messageId: string): number | undefined {
  const time = ACKNOWLEDGEMENT_ID.exec(messageId)?.[1];
  return time === undefined ? undefined : Number(time);
}

/** Whether this id is that of the acknowledgement of a message, regardless of when it was received. */
export function acknowledges(messageId: string, key: RequestKey): boolean {
  return ACKNOWLEDGEMENT_ID.exec(messageId)?.[2] === randomOf(key).slice(0, 8);
}

/** Stands in for random digits: the same message always gets the same ones. */
function randomOf({ owner, requestId }: RequestKey): string {
  return hash('sha256', `${owner}\n${requestId}`, 'hex');
}

/** The message of a request, as far as an acknowledgement repeats it. */
export function messageOf(request: MailboxRequest): MailboxMessage {
  const { envelope } = request;
  const sender = messageSenderOf(request);
  const taskType = textOr(envelope.params['task_type'], undefined);
  const timestamp = envelope.timestamp;
  return {
    version: '0.3.0',
    messageId: request.requestId,
    timestamp,
    from: {
      name: sender.name ?? '',
      agentId: sender.agentId ?? null,
      callbackUrl: sender.callbackUrl ?? null,
    },
    to: { name: null, agentId: null },
    message: { contentType: 'application/json', content: envelope.params['content'] ?? null },
    metadata: {
      messageId: request.requestId,
      timestamp,
      replyTo: envelope.correlation_id,
      threadId: envelope.session_id,
      ...(taskType !== undefined && { taskType }),
      priority: 'normal',
      expiresAt: null,
    },
  };
}

export function messageSenderOf({ envelope }: Pick<MailboxRequest, 'envelope'>): {
  name?: string;
  agentId?: string;
  callbackUrl?: string;
} {
  const { from } = envelope.channel_context;
  return isObject(from) ? (from as { name?: string; agentId?: string; callbackUrl?: string }) : {};
}

function answeringIdentity({ envelope }: MailboxRequest): MailboxIdentity {
  const { id, name, agentId } = envelope.agent_ref ?? {};
  return { name: textOr(name, textOr(id, 'agent')), agentId: textOr(agentId, null) };
}

/** An error, because a truncated answer would look complete. */
function tooLong(final: E2AResponse): E2AResponse {
  const body = {
    code: 'E2A.AGENT_ERROR',
    message: `The answer exceeds the mailbox limit of ${MAX_CHARACTERS} characters.`,
  };
  return { ...final, response_kind: 'e2a.error', status: 'failed', body };
}

function textOr<Otherwise>(value: unknown, otherwise: Otherwise): string | Otherwise {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

/** The ids of acknowledgements, as `mailboxMessageId` makes them. */
const ACKNOWLEDGEMENT_ID = /^msg_(\d{1,15})_([0-9a-f]{8})$/;

/**
 * The limit on an answer, which is held in memory and sent as one callback. `CallbackReceiver` accepts as much, however
 * it is escaped.
 */
const MAX_CHARACTERS = 10_000_000;
