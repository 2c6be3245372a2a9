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

/** What of a request makes its answer, whenever and in whichever process that is made: it is always the same. */
export interface AskedMessage {
  readonly owner: string;
  readonly requestId: string;
  readonly acceptedAt: number;
  readonly envelope: E2AEnvelope;
}

/** A request as it was recorded; `undefined` when it did not come to the mailbox. */
export function askedIn(row: RequestRow): AskedMessage | undefined {
  const envelope = recordedEnvelope(row.envelope);
  if (envelope.channel !== 'a2a-mailbox') return undefined;
  return { owner: row.owner, requestId: row.requestId, acceptedAt: row.acceptedAt, envelope };
}

/**
 * What was asked: as this message has it, or, of a repeat, as the first had it. Who answers may have been renamed in between, and
 * the answer is that of then.
 */
export function askedBy(row: RequestRow, envelope: E2AEnvelope, isRepeat: boolean): AskedMessage {
  const { owner, requestId, acceptedAt } = row;
  if (!isRepeat) return { owner, requestId, acceptedAt, envelope };
  const earlier = askedIn(row);
  if (earlier === undefined) throw new Error('a message of the mailbox was recorded as something else');
  return earlier;
}

interface Addressing {
  readonly target: string | undefined;
  readonly from: MailboxIdentity;
  readonly sender: Principal;
  /** For the sender; every answer to the message has them. */
  readonly warnings?: readonly string[];
}

/** The envelope of a message: addressed, and with what the answer needs to find its way back. */
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
    // Every driver passes it on, so the agent behind it knows that nobody has proven the name.
    ...(sender.kind === 'anonymous' && { anonymous: true }),
  };
  if (expiresAt !== null) context['expires_at'] = expiresAt;
  return {
    ...envelope,
    // As it was addressed: whom that means is for the configuration of the day to say, and a repeat is told by what was sent.
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

/** The final frame of an answer, with what was streamed before it where it says nothing itself: a mailbox tells it whole. */
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
      const saysItself = withStreamed(frame, null) === frame;
      if (saysItself) isTooLong = frameText(frame).length > MAX_CHARACTERS;
      if (isTooLong) return tooLong(frame);
      return saysItself || text === '' ? frame : withStreamed(frame, text);
    }
    const part = textOf(frame);
    isTooLong ||= text.length + part.length > MAX_CHARACTERS;
    text = isTooLong ? '' : text + part;
  }
  throw new Error('an answer ended without its final frame');
}

/** The final frame as the mailbox's response. */
export function mailboxAnswerOf(asked: AskedMessage, final: E2AResponse): MailboxResponse {
  const [response] = mailboxDialect.fromResponse(final, asked.envelope);
  if (response === undefined || !isMailboxResponse(response)) throw new Error('a final frame says nothing');
  const ended = final.timestamp === null ? undefined : parseTimestamp(final.timestamp);
  const processingTime =
    response.metadata.processingTime ?? (ended === undefined ? null : Math.max(0, ended - asked.acceptedAt));
  return {
    ...response,
    from: answererOf(asked),
    to: { ...response.to, name: messageSenderOf(asked).name ?? null },
    metadata: { ...response.metadata, processingTime, ...warningsOf(asked) },
  };
}

/** "Received": the same however often it is asked for. */
export function acknowledgementOf(asked: AskedMessage, message: MailboxMessage): MailboxResponse {
  const stamp = { id: randomOf(asked), now: new Date(asked.acceptedAt) };
  const response = acknowledgement(message, { from: answererOf(asked), stamp });
  return { ...response, metadata: { ...response.metadata, ...warningsOf(asked) } };
}

function warningsOf({ envelope }: AskedMessage): { warnings?: Json } {
  const { warnings } = envelope.provenance.details;
  return warnings === undefined ? {} : { warnings };
}

/** When what this id would acknowledge was accepted; `undefined` when no acknowledgement has such an id. */
export function acknowledgedAt(messageId: string): number | undefined {
  const time = ACKNOWLEDGEMENT_ID.exec(messageId)?.[1];
  return time === undefined ? undefined : Number(time);
}

/** Whether this id is that of the acknowledgement of a message, whenever that came. */
export function acknowledges(messageId: string, key: RequestKey): boolean {
  return ACKNOWLEDGEMENT_ID.exec(messageId)?.[2] === randomOf(key).slice(0, 8);
}

/** In place of chance: the same for the same message. */
function randomOf({ owner, requestId }: RequestKey): string {
  return hash('sha256', `${owner}\n${requestId}`, 'hex');
}

/** The message of a request, as far as an acknowledgement repeats it. */
export function messageOf(asked: AskedMessage): MailboxMessage {
  const { envelope } = asked;
  const sender = messageSenderOf(asked);
  const taskType = textOr(envelope.params['task_type'], undefined);
  const timestamp = envelope.timestamp;
  return {
    version: '0.3.0',
    messageId: asked.requestId,
    timestamp,
    from: {
      name: sender.name ?? '',
      agentId: sender.agentId ?? null,
      callbackUrl: sender.callbackUrl ?? null,
    },
    to: { name: null, agentId: null },
    message: { contentType: 'application/json', content: envelope.params['content'] ?? null },
    metadata: {
      messageId: asked.requestId,
      timestamp,
      replyTo: envelope.correlation_id,
      threadId: envelope.session_id,
      ...(taskType !== undefined && { taskType }),
      priority: 'normal',
      expiresAt: null,
    },
  };
}

export function messageSenderOf({ envelope }: Pick<AskedMessage, 'envelope'>): {
  name?: string;
  agentId?: string;
  callbackUrl?: string;
} {
  const { from } = envelope.channel_context;
  return isObject(from) ? (from as { name?: string; agentId?: string; callbackUrl?: string }) : {};
}

function answererOf({ envelope }: AskedMessage): MailboxIdentity {
  const { id, name, agentId } = envelope.agent_ref ?? {};
  return { name: textOr(name, textOr(id, 'agent')), agentId: textOr(agentId, null) };
}

/** Cut off, it would pass for a whole one. */
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

/** As `mailboxMessageId` writes it. */
const ACKNOWLEDGEMENT_ID = /^msg_(\d{1,15})_([0-9a-f]{8})$/;

/**
 * Of what was streamed, or of the frame that ends the answer: it is held in memory, and is one callback. `CallbackReceiver`
 * takes as much, however it is escaped.
 */
const MAX_CHARACTERS = 10_000_000;
