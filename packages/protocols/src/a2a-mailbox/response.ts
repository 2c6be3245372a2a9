import type { Stamp } from '../dialect.ts';
import type { E2AEnvelope } from '../e2a/envelope.ts';
import { errorIn } from '../e2a/error-in.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { fnv1a } from '../fnv.ts';
import { holdsSomething } from '../holds-something.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { parseTimestamp } from '../time.ts';
import { type ContentType, MAILBOX_VERSION, type MailboxMessage, type MailboxResponse } from './message.ts';
import { mailboxMessageId } from './message-id.ts';
import { questionReportIn } from './question.ts';
import { contentTypeFor, fittingContentType, textIn } from './shorthand.ts';
import { isPlainLine } from './validate.ts';

/** The answering agent, and the id and time of the answer. */
export interface Answering {
  readonly from: { readonly name: string; readonly agentId: string | null };
  readonly stamp: Stamp;
  /** Milliseconds. */
  readonly processingTime?: number;
}

/** "Received": the real answer comes later, to the callback URL or into the thread. Track it by `replyTo`. */
export function acknowledgement(request: MailboxMessage, answering: Answering): MailboxResponse {
  const content = { status: 'received', messageId: request.messageId };
  return replyTo(request, answering, { status: 'received', contentType: 'application/json', content });
}

export function answerMessage(
  request: MailboxMessage,
  answering: Answering,
  {
    content,
    contentType = contentTypeFor(undefined, content),
  }: { readonly content: Json; readonly contentType?: ContentType },
): MailboxResponse {
  return replyTo(request, answering, { status: 'success', contentType, content });
}

/** The answer to a valid message if the work failed. */
export function errorAnswer(
  request: MailboxMessage,
  answering: Answering,
  { error, code }: { readonly error: string; readonly code: string },
): MailboxResponse {
  return replyTo(request, answering, { status: 'error', contentType: 'application/json', content: { error, code } });
}

/** The mailbox messages of a frame: none before the final one, except for questions to a person. */
export function mailboxFromResponse(response: E2AResponse, request: E2AEnvelope): MailboxResponse[] {
  const question = questionReportIn(response);
  const reply = question === undefined ? replyIn(response) : ({ ...question, contentType: 'text/plain' } as const);
  if (reply === undefined) return [];
  const time = response.timestamp === null ? undefined : parseTimestamp(response.timestamp);
  const sender = isObject(request.channel_context['from']) ? request.channel_context['from'] : {};
  const { processingTime } = response.metadata;
  return [
    {
      version: MAILBOX_VERSION,
      // Derived from the frame alone, so that a repeated frame gives the same message.
      messageId:
        question?.messageId ?? mailboxMessageId({ now: new Date(time ?? 0), random: fnv1a(frameName(response)) }),
      timestamp: question?.timestamp ?? response.timestamp,
      // A request without its own id can only be named by the message it replied to.
      replyTo: question?.replyTo ?? request.request_id ?? request.message_id ?? request.correlation_id,
      threadId: request.session_id,
      from: { name: answererOf(response, request), agentId: null },
      to: {
        name: request.source_agent_id,
        agentId: textIn(sender.agentId) ?? null,
        callbackUrl: textIn(sender.callbackUrl) ?? null,
      },
      message: { contentType: reply.contentType, content: reply.content },
      metadata: {
        ...question?.metadata,
        ...('rest' in reply && reply.rest !== undefined && { result: reply.rest }),
        status: reply.status,
        taskType: textIn(request.params['task_type']) ?? null,
        processingTime: typeof processingTime === 'number' && processingTime >= 0 ? processingTime : null,
      },
    },
  ];
}

interface Reply {
  readonly status: string;
  readonly contentType: ContentType;
  readonly content: Json;
  /** Members of the result beside `content` and `content_type`. */
  readonly rest?: JsonObject;
}

/** A response in the full shape, for the immediate answer and for the callback (A2A mailbox, Response Format). */
function replyTo(request: MailboxMessage, { from, stamp, processingTime }: Answering, reply: Reply): MailboxResponse {
  return {
    version: MAILBOX_VERSION,
    messageId: mailboxMessageId({ now: stamp.now, random: stamp.id }),
    timestamp: stamp.now.toISOString(),
    replyTo: request.messageId,
    threadId: request.metadata.threadId,
    from: { name: from.name, agentId: from.agentId },
    to: { name: request.from.name, agentId: request.from.agentId, callbackUrl: request.from.callbackUrl },
    message: { contentType: reply.contentType, content: reply.content },
    metadata: {
      status: reply.status,
      taskType: request.metadata.taskType ?? null,
      processingTime: processingTime ?? null,
    },
  };
}

function replyIn({ response_kind: kind, status, is_final: isFinal, body }: E2AResponse): Reply | undefined {
  if (kind === 'e2a.error' || status === 'failed') {
    const { message, code, details, documentation_url: url } = body;
    const { retryAfter } = errorIn(body);
    const content = {
      error: textIn(message) ?? 'The agent failed.',
      code: textIn(code) ?? 'E2A.AGENT_ERROR',
      ...(holdsSomething(details) && { details: details ?? null }),
      ...(retryAfter !== undefined && { retry_after: retryAfter }),
      ...(typeof url === 'string' && { documentation_url: url }),
    };
    return { status: 'error', contentType: 'application/json', content };
  }
  if (kind === 'e2a.chunk' || !isFinal) return undefined;
  return { status: 'success', ...contentOf(kind === 'e2a.complete' ? (body['result'] ?? {}) : body) };
}

/**
 * An agent answers with a value, or with `{content, content_type?}` to give its type. Other members of such an object,
 * such as `usage`, go into `metadata.result`. An object with only `text` is that text, as the hub writes streamed text.
 */
function contentOf(result: Json): Omit<Reply, 'status'> {
  if (!isObject(result)) return { contentType: contentTypeFor(undefined, result), content: result };
  if (typeof result['text'] === 'string' && Object.keys(result).length === 1) return contentOf(result['text']);
  const content = result.content ?? result;
  const contentType = fittingContentType(result.content_type, content) ?? contentTypeFor(undefined, content);
  if (content === result) return { contentType, content };
  const { content: _, content_type: __, ...rest } = result;
  return { contentType, content, ...(Object.keys(rest).length > 0 && { rest }) };
}

function frameName({ response_id: id, request_id: request, sequence }: E2AResponse): string {
  return id ?? `${request}:${sequence}`;
}

/** The first name that is valid in a mailbox: agents choose their own names. */
function answererOf(response: E2AResponse, request: E2AEnvelope): string {
  // E2A §12.4: a frame echoes the caller, unless its agent names itself.
  const { source_agent_id: source } = response;
  const own = source === request.source_agent_id ? undefined : textIn(source ?? undefined);
  const names = [own, idIn(response.agent_ref), idIn(request.agent_ref)];
  return names.find((name) => typeof name === 'string' && isPlainLine(name)) ?? 'agent';
}

function idIn(reference: JsonObject | null): string | undefined {
  return textIn(reference?.['id']);
}
