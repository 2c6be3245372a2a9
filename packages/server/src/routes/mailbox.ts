import {
  anonymousOwner,
  type Clock,
  type Engine,
  type MailboxService,
  type Principal,
  type Sender,
  UNLISTED,
  unreadable,
} from '@dragoman/core';
import {
  type Dialect,
  FAILURES,
  type Failure,
  failure,
  type Json,
  type JsonObject,
  type Outcome,
  SCHEMA_BASE,
  show,
} from '@dragoman/protocols';
import {
  type ContentLimits,
  errorBody,
  isMailboxMessage,
  isMailboxResponse,
  MAILBOX_LIMITS,
  MailboxInput,
  type MailboxMessage,
  type MailboxResponse,
  type MailboxWire,
  mailboxDialectWith,
  messageOfResponse,
  repliedQuestion,
} from '@dragoman/protocols/a2a-mailbox';
import type { MailboxLimits } from '../callers/mailbox-limits.ts';
import { addressGroup } from '../edges/address.ts';
import { isFailure } from '../http/problem.ts';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { callerOf, idempotencyKeyOf } from './inbound-fields.ts';
import { integerIn } from './integer-in.ts';
import { IDEMPOTENCY_KEY, integerParameter, textParameter } from './route-parameters.ts';

export interface MailboxContext {
  readonly mailbox: MailboxService;
  readonly engine: Engine;
  readonly limits: MailboxLimits;
  /** The limits for the content of a message. */
  readonly content: ContentLimits;
  readonly clock: Clock;
  /** Whether senders without a key may write to any agent. */
  readonly isOpen: boolean;
  /** The principal of a sender without a key. */
  readonly anonymousSender: (owner: string) => Principal | undefined;
}

/** The A2A mailbox: post a message, ask for its answer, read a thread. */
export function mailboxRoutes(context: MailboxContext): Route[] {
  const { clock, limits, content, isOpen } = context;
  const dialect = mailboxDialectWith(content);
  const wordFailure = (refusal: Failure): Answer => ({
    status: FAILURES[refusal.code].http,
    json: errorBody(refusal, clock.now()),
  });
  return [
    {
      method: 'POST',
      path: '/a2a',
      access: 'open',
      ...(!isOpen && { refuseAnonymous: KEY_REQUIRED }),
      counts: true,
      count: (call) => limits.lease(call)?.then(() => limits.count(call)) ?? limits.count(call),
      summary: 'Post a message to an agent. Without a callbackUrl, a quick answer is in the response.',
      parameters: [IDEMPOTENCY_KEY],
      body: {
        contentTypes: ['application/json'],
        maxBytes: MAX_BODY + LONGEST_ESCAPE * Math.max(0, content.contentBytes - MAILBOX_LIMITS.contentBytes),
        schema: { $id: `${SCHEMA_BASE}/a2a-mailbox/input.json`, ...MailboxInput },
      },
      wordFailure,
      handle: (request) => receive(request, context, dialect),
    },
    {
      method: 'GET',
      path: '/a2a/messages/:message_id',
      access: 'open',
      ...(!isOpen && { refuseAnonymous: KEY_REQUIRED }),
      owned: true,
      counts: true,
      count: (call) => limits.countRead(call),
      summary:
        'Read the answer to your request of any protocol, or its acknowledgement. Without a key, ?from=NAME selects the sender.',
      parameters: [
        textParameter(
          'from',
          'Without a key: the name the message was sent by, where several senders at one address use the id.',
        ),
      ],
      wordFailure,
      handle: async ({ params, query, principal, address }) => {
        const id = params['message_id'] ?? '';
        const { mailbox } = context;
        const found =
          principal === undefined
            ? mailbox.findAnonymous(id, { addressGroup: addressGroup(address), from: query.get('from') ?? undefined })
            : mailbox.find(id, principal.id);
        return { status: 200, headers: PRIVATE, json: await found };
      },
    },
    {
      method: 'GET',
      path: '/a2a/threads',
      access: 'agent',
      counts: false,
      summary: 'List your threads by id; ?as=agent lists those addressed to you. ?after=ID&limit=50 pages.',
      parameters: [
        textParameter('as', 'Your role in the threads. Default: sender.', PARTS),
        textParameter('after', 'The next of the previous page. Default: from the beginning.'),
        integerParameter('limit', 'Maximum number of entries, at most 200. Default: 50.'),
      ],
      wordFailure,
      handle: (request) => threads(request, context),
    },
    {
      method: 'GET',
      path: '/a2a/threads/:thread_id',
      access: 'agent',
      owned: true,
      counts: false,
      summary: 'Read the messages of a thread in order, as a participant; ?after=N&limit=50 pages.',
      parameters: [
        integerParameter('after', 'The sequence of the last message seen. Default: 0, which reads all.'),
        integerParameter('limit', 'Maximum number of messages; fewer if they are long. Default: 50.'),
      ],
      wordFailure,
      handle: (request) => thread(request, context),
    },
  ];
}

async function receive(
  request: InboundRequest,
  context: MailboxContext,
  dialect: Dialect<MailboxWire>,
): Promise<Answer | Failure> {
  const read = messageIn(await request.readJson(), dialect, context.clock.now());
  if (isFailure(read)) return read;
  const { message, late } = read;
  const idempotencyKey = idempotencyKeyOf(request);
  if (typeof idempotencyKey === 'object') return idempotencyKey;
  const principal =
    request.principal ?? context.anonymousSender(anonymousOwner(addressGroup(request.address), message.from.name));
  if (principal === undefined) return KEY_REQUIRED;
  const sender: Sender = {
    principal,
    idempotencyKey,
    text: request.body,
    agentId: context.engine.callers.find(principal.id)?.agentId,
  };
  if (late !== undefined && !(await context.mailbox.isRepeat(message, sender))) return late;
  return { status: 200, headers: PRIVATE, json: await context.mailbox.receive(message, sender) };
}

interface Read {
  readonly message: MailboxMessage;
  /**
   * The failure for an expired message that is otherwise valid. It is accepted only as a repeat of an earlier message.
   */
  readonly late?: Failure;
}

function messageIn(json: Outcome<Json>, dialect: Dialect<MailboxWire>, now: Date): Read | Failure {
  if (!json.ok) return unreadable(json.issues);
  const outcome = dialect.decode(json.value, now);
  if (!outcome.ok) {
    const refusal = failure('invalid_message', { issues: outcome.issues });
    if (!outcome.issues.every(({ code }) => code === 'expired')) return refusal;
    const inTime = dialect.decode(json.value, LONG_AGO);
    return inTime.ok && isMailboxMessage(inTime.value) ? { message: inTime.value, late: refusal } : refusal;
  }
  const { value } = outcome;
  if (isMailboxMessage(value)) return { message: value };
  const fault = isMailboxResponse(value) ? responseFault(value) : 'got an error body';
  if (fault === undefined && isMailboxResponse(value)) return { message: messageOfResponse(value) };
  const text = `POST /a2a accepts messages, and responses that reply to a question of this server; ${fault}.`;
  return failure('invalid_message', { issues: [{ pointer: '', code: 'type', message: text }] }, text);
}

async function threads(request: InboundRequest, { mailbox }: MailboxContext): Promise<Answer | Failure> {
  const { query } = request;
  const limit = integerIn(query, 'limit', { from: 1, to: 200, otherwise: 50 });
  if (isFailure(limit)) return limit;
  const part = query.get('as') ?? 'sender';
  if (!PARTS.includes(part)) {
    const message = `"as" must be one of ${PARTS.join(', ')}; got ${JSON.stringify(part.slice(0, 40))}`;
    return failure('invalid_message', { issues: [{ pointer: '/as', code: 'enum', message }] }, message);
  }
  const { id } = callerOf(request);
  const range = { after: query.get('after') ?? '', limit: limit.value };
  const rows = await mailbox.threads(part === 'agent' ? { agentId: id } : { owner: id }, range);
  const listed = rows.map(({ threadId, agentId, messages, lastAt, owner }) => ({
    threadId,
    agent: agentId,
    sender: owner,
    messages,
    lastAt: new Date(lastAt).toISOString(),
  }));
  const next = rows.length === limit.value ? (rows.at(-1)?.threadId ?? null) : null;
  return { status: 200, headers: PRIVATE, json: { threads: listed, next } };
}

/** Why a response of another mailbox is not an answer to a message from here. */
function responseFault({ replyTo, metadata }: MailboxResponse): string | undefined {
  if (repliedQuestion(replyTo) === undefined) return `got a response that replies to ${show(replyTo)}`;
  const isAnswer = metadata.status === null || !ACKNOWLEDGING.has(metadata.status);
  return isAnswer ? undefined : `got an acknowledgement (metadata.status is ${show(metadata.status)})`;
}

async function thread(request: InboundRequest, { mailbox }: MailboxContext): Promise<Answer | Failure> {
  const { params, query } = request;
  const after = integerIn(query, 'after', { from: 0, to: Number.MAX_SAFE_INTEGER, otherwise: 0 });
  const limit = integerIn(query, 'limit', { from: 1, to: 200, otherwise: 50 });
  if (isFailure(after)) return after;
  if (isFailure(limit)) return limit;
  const threadId = params['thread_id'] ?? '';
  const page = { after: after.value, limit: limit.value };
  const { rows, more, isOwner } = await mailbox.thread(threadId, callerOf(request), page);
  const messages = rows.map(({ sequence, text }) => ({ sequence, ...shown(JSON.parse(text) as JsonObject, isOwner) }));
  return { status: 200, json: { threadId, messages, next: more ? (rows.at(-1)?.sequence ?? null) : null } };
}

/** Hides the callback URL of a sender from everyone else. */
function shown(message: JsonObject, isOwner: boolean): JsonObject {
  if (isOwner) return message;
  const hidden = (party: Json | undefined) => ({ ...(party as JsonObject), callbackUrl: null });
  return 'replyTo' in message
    ? { ...message, to: hidden(message['to']) }
    : { ...message, from: hidden(message['from']) };
}

const PARTS: readonly string[] = ['sender', 'agent'];
const KEY_REQUIRED = failure('unauthenticated', {}, UNLISTED);

/** The status of a message that has no answer yet. */
const ACKNOWLEDGING: ReadonlySet<string> = new Set(['received', 'queued']);

/** No cache may keep messages, including those of anonymous senders. */
const PRIVATE = { 'Cache-Control': 'no-store' };

/** A time before any message expires. */
const LONG_AGO = new Date(0);

/** The limit for everything around the content, which has its own limit (default: 10 KB). */
const MAX_BODY = 100_000;
/** The most bytes of JSON for one byte of content. */
const LONGEST_ESCAPE = '\\u0000'.length;
