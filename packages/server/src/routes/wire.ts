import type {
  Clock,
  HostedType,
  Ids,
  Learning,
  Principal,
  UnreadBudget,
  WireConnection,
  WireHost,
} from '@dragoman/core';
import {
  type Failure,
  failure,
  isObject,
  type JsonObject,
  LineSplitter,
  type Outcome,
  parseJsonBytes,
  show,
} from '@dragoman/protocols';
import { lookup } from '@dragoman/protocols/a2e-wire';
import { linesIn } from '../edges/lines-in.ts';
import { MessageQueue } from '../edges/message-queue.ts';
import { type MessageRates, senderOf } from '../edges/message-rates.ts';
import { sseAnswer } from '../edges/sse.ts';
import type { Answer, InboundRequest, Route, RouteParameter, SocketRoute } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';
import { idAtNode, type OwnNode, ofOtherNode } from './other-node.ts';
import { LAST_EVENT_ID } from './route-parameters.ts';

export interface WireContext {
  readonly learning: Pick<Learning, 'export'>;
  readonly host: WireHost;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rates: MessageRates;
  readonly unread?: UnreadBudget | undefined;
  readonly maxMessageBytes?: number | undefined;
  /** This node of the cluster; absent where one process owns the store. */
  readonly cluster?: OwnNode | undefined;
}

/**
 * The A2E wire over a WebSocket: each WebSocket message has one message, or several on a line each. The caller is
 * identified by the key of the upgrade request or, for peers that cannot set headers, by `auth_token` in the handshake.
 */
export function wireSocketRoute({
  host,
  rates,
  maxMessageBytes,
}: Pick<WireContext, 'host' | 'rates' | 'maxMessageBytes'>): SocketRoute {
  return {
    path: '/a2e/ws',
    access: 'open',
    ...(maxMessageBytes !== undefined && { maxMessageBytes }),
    // A browser sends its key among the subprotocols, and closes a connection for which none of them was selected.
    subprotocols: ['dragoman', 'a2e'],
    summary: 'A2E wire, one or more lines per WebSocket message.',
    open: async (socket) => {
      const { principal, address } = socket;
      if (principal?.kind === 'admin') return socket.close(1008, 'forbidden');
      let sent: Promise<void> = Promise.resolve();
      const closed = new AbortController();
      const sink = {
        send: (text: string) => {
          sent = socket.send(text).catch(() => {});
          // Events are sent even if the peer does not read, so the unread bytes are limited.
          if (socket.bufferedBytes <= MOST_UNSENT) return;
          connection?.lost();
          // Without a close, its unread messages would be kept until the peer counts as gone.
          socket.close(1013, 'reading too slowly');
        },
        close: () => closed.abort(),
        isFull: () => 2 * socket.bufferedBytes > MAX_UNSENT,
        whenRead: (callback: () => void) => void sent.then(callback),
      };
      const connection: WireConnection | undefined = host.connect(
        sink,
        principal === undefined ? {} : { principal },
        address,
      );
      if (connection === undefined) return socket.close(1013, 'busy');
      socket.signal.addEventListener('abort', () => connection.lost());
      const reading = (async () => {
        for await (const text of socket.messages) {
          let lines = 0;
          for (const line of linesIn(text)) {
            lines += 1;
            connection.receiveText(line);
            if (connection.principal !== undefined) socket.welcome(connection.principal);
            // The peer does not read: nothing more is taken from it until it does.
            if (socket.bufferedBytes > MAX_UNSENT) await sent;
          }
          // The connection has counted the first line as one message.
          if (lines > 1) rates.count(senderOf(connection.principal, address), { messages: lines - 1, bytes: 0 });
        }
        connection.end();
      })();
      reading.catch(() => connection.lost());
      if (!closed.signal.aborted) {
        await new Promise<void>((resolve) => closed.signal.addEventListener('abort', () => resolve()));
      }
      await sent;
    },
  };
}

/** The A2E wire over plain HTTP: a session, messages posted to it, and a stream of the answers. */
export function wireRoutes(context: WireContext): Route[] {
  const { ids, maxMessageBytes = MAX_MESSAGE_BYTES, clock, rates } = context;
  const sessions = new HttpSessions(context);
  // The node is in it: a session lives in the process that opened it.
  const sessionId = () => idAtNode(ids.hex(), context.cluster);
  return [
    {
      method: 'POST',
      path: '/a2e/session',
      access: 'agent',
      counts: true,
      summary: 'Open an A2E wire session, without a body. Send the handshake to /a2e/send first.',
      body: { contentTypes: ['application/json'], maxBytes: 1024 },
      handle: (request) => {
        if (isMessage(request.body)) return NO_MESSAGE_HERE;
        const session = sessions.open(sessionId(), callerOf(request), request.address);
        if (session === undefined) return failure('busy', { retry_after: 5 }, 'Too many sessions are open already.');
        return { status: 200, json: { session_id: session.id } };
      },
    },
    {
      method: 'POST',
      path: '/a2e/send',
      access: 'agent',
      owned: true,
      // Counted as a message, not as a request: what the message starts is counted later.
      counts: true,
      count: ({ principal, address, bytes }) => {
        const sender = senderOf(principal, address);
        const delayMs = rates.delay(sender);
        if (delayMs > 0) return { limits: [], failure: tooManyMessages(delayMs) };
        rates.count(sender, { messages: 1, bytes });
        return { limits: [] };
      },
      summary: 'Send a message to the session in X-Session-Id; with application/x-ndjson, one per line, at most 1,000.',
      parameters: [SESSION],
      body: { contentTypes: ['application/json', 'text/plain', 'application/x-ndjson'], maxBytes: maxMessageBytes },
      handle: (request) => {
        const session = sessions.find(request);
        if (!(session instanceof HttpSession)) return session;
        const { connection, queue } = session;
        // The client can still read the last messages of a closed connection, but no longer send.
        if (connection === undefined || connection.isClosed) return NO_SESSION;
        if (queue.unsent > MAX_UNSENT) {
          return failure('busy', { retry_after: 1 }, 'Read /a2e/stream first: too many messages are waiting there.');
        }
        const { headers, body, principal, address } = request;
        if (!/^application\/x-ndjson\b/i.test(String(headers['content-type']))) {
          connection.receiveLine({ ok: true, value: body, warnings: [] });
          return { status: 200, json: { ok: true } };
        }
        const lines = linesOf(body, maxMessageBytes);
        if (lines.length > MOST_LINES) return TOO_MANY_LINES;
        if (lines.length > 1) rates.count(senderOf(principal, address), { messages: lines.length - 1, bytes: 0 });
        for (const line of lines) connection.receiveLine(line);
        return { status: 200, json: { ok: true, messages: lines.length } };
      },
    },
    {
      method: 'GET',
      path: '/a2e/stream',
      access: 'agent',
      owned: true,
      counts: false,
      summary: 'Read the messages of the session in X-Session-Id as SSE; Last-Event-ID resumes.',
      parameters: [SESSION, LAST_EVENT_ID],
      answers: { 'text/event-stream': { type: 'string' } },
      handle: (request) => {
        const session = sessions.find(request);
        if (!(session instanceof HttpSession)) return session;
        const after = resumeAfter(request, session.queue);
        return typeof after === 'object' ? after : sseAnswer(session.queue.read(after), { clock });
      },
    },
    {
      method: 'GET',
      path: '/a2e/types',
      access: 'agent',
      counts: false,
      summary: 'List all request types of this host, including plugins, with capability and schemas.',
      handle: () => ({ status: 200, json: { types: context.host.types().map(typeRow) } }),
    },
    {
      method: 'GET',
      path: '/a2e/learning',
      access: 'agent',
      counts: true,
      summary: 'Export the feedback and experience of the calling agent as NDJSON, oldest first.',
      answers: { 'application/x-ndjson': { type: 'string' } },
      handle: async (request) => {
        const rows = await context.learning.export(callerOf(request).id);
        const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
        return { status: 200, headers: { 'Content-Type': 'application/x-ndjson' }, text };
      },
    },
  ];
}

/**
 * A type in a list of types. The protocol's own types have published schemas; for other types the plugin provides them.
 */
function typeRow({ type, capability, answer, schema, answerSchema }: HostedType): JsonObject {
  const published = (of: string) =>
    lookup(of) === undefined ? null : { $ref: `/schemas/a2e-wire/${of.replaceAll(/[/_]/g, '-')}.json` };
  return {
    type,
    capability,
    answer,
    schema: (schema as JsonObject | undefined) ?? published(type),
    answer_schema: (answerSchema as JsonObject | undefined) ?? published(answer),
  };
}

/**
 * The number after which the peer resumes, if it names one. Fails if messages after it are gone, because a stream has
 * no gaps.
 */
function resumeAfter({ headers }: InboundRequest, queue: MessageQueue): number | undefined | Failure {
  const last = headers['last-event-id'];
  if (last === undefined) return undefined;
  const after = typeof last === 'string' && /^(?:-1|\d{1,15})$/.test(last) ? Number(last) : Number.POSITIVE_INFINITY;
  if (queue.canResume(after)) return after;
  if (after > queue.sentUpTo) {
    const message = `Last-Event-ID must be the id of an event that was sent here, ${queue.sentUpTo} at most; got ${show(String(last))}`;
    return failure('invalid_message', { issues: [{ pointer: '', code: 'last_event_id', message }] }, message);
  }
  const suggestions = ['omit Last-Event-ID to continue with unsent messages', 'or open another session'];
  const message = `Some messages after ${after} are not kept any more; the oldest number to resume after is ${queue.resumesAfter}.`;
  return failure('expired', { suggestions }, message);
}

class HttpSession {
  readonly id: string;
  readonly owner: string;
  readonly queue: MessageQueue;
  connection: WireConnection | undefined;

  constructor({ id, owner, queue }: Pick<HttpSession, 'id' | 'owner' | 'queue'>) {
    this.id = id;
    this.owner = owner;
    this.queue = queue;
  }
}

/** The open sessions over HTTP. Each is visible only to the caller that opened it. */
class HttpSessions {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #host: WireHost;
  readonly #clock: Clock;
  readonly #unread: UnreadBudget | undefined;
  readonly #cluster: WireContext['cluster'];

  constructor({ host, clock, unread, cluster }: WireContext) {
    this.#cluster = cluster;
    this.#host = host;
    this.#clock = clock;
    this.#unread = unread;
  }

  open(id: string, principal: Principal, address: string): HttpSession | undefined {
    // A session does not count once it has ended and was read to its end.
    const own = [...this.#sessions.values()].filter(({ owner, queue }) => owner === principal.id && !queue.isOver);
    if (own.length >= MOST_SESSIONS) return undefined;
    const drop = () => {
      session.connection?.lost();
      this.#sessions.delete(id);
    };
    const account = this.#unread?.open({ principal, address, drop });
    const session = new HttpSession({ id, owner: principal.id, queue: new MessageQueue(account) });
    const sink = {
      send: (text: string) => {
        session.queue.push(text);
        if (session.queue.unsent > MOST_UNSENT) session.connection?.lost();
      },
      close: () => {
        session.queue.end();
        // The last messages can be read for a while.
        this.#clock.after(AFTERLIFE_MS, () => {
          this.#sessions.delete(id);
          account?.close();
        });
      },
      isFull: () => 2 * session.queue.unsent > MAX_UNSENT,
      whenRead: (callback: () => void) => session.queue.whenRead(callback),
    };
    session.connection = this.#host.connect(sink, { principal }, address);
    if (session.connection === undefined) {
      account?.close();
      return undefined;
    }
    this.#sessions.set(id, session);
    return session;
  }

  find({ headers, principal }: InboundRequest): HttpSession | Failure | Answer {
    const id = headers['x-session-id'];
    if (typeof id !== 'string' || id === '') {
      const suggestions = ['POST /a2e/session first, and send its session_id as X-Session-Id'];
      return failure('invalid_message', { suggestions }, 'The header X-Session-Id is missing.');
    }
    const session = this.#sessions.get(id);
    if (session === undefined) return ofOtherNode(id, this.#cluster, ELSEWHERE) ?? NO_SESSION;
    return session.owner !== principal?.id || session.queue.isOver ? NO_SESSION : session;
  }
}

const ELSEWHERE = { what: 'session', header: 'X-Session-Id', instead: 'the wire over WebSocket or TCP' };

function tooManyMessages(delayMs: number): Failure {
  const message =
    'You have sent more messages or bytes than limits.messages_per_minute and message_bytes_per_minute allow.';
  return failure('rate_limited', { retry_after: delayMs / 1000 }, message);
}

/** The lines of a body. The last one needs no line break. */
function linesOf(body: Uint8Array, maxLineBytes: number): readonly Outcome<Uint8Array>[] {
  const splitter = new LineSplitter({ maxLineBytes });
  return [...splitter.push(body), ...splitter.push(LINE_BREAK)];
}

/** Whether a body is a message. No message is read here, so its sender would wait for an answer that never comes. */
function isMessage(body: Uint8Array): boolean {
  if (body.length === 0) return false;
  const json = parseJsonBytes(body);
  return json.ok && isObject(json.value) && json.value['type'] !== undefined;
}

const NO_MESSAGE_HERE = failure(
  'invalid_message',
  {
    suggestions: [
      'POST /a2e/session without a body, then the handshake to /a2e/send, with its session_id as X-Session-Id',
    ],
  },
  'Opening a session takes no body: this one would be ignored.',
);
const LINE_BREAK = Uint8Array.of(0x0a);
const MOST_LINES = 1_000;
const TOO_MANY_LINES = failure(
  'too_large',
  { limit: MOST_LINES, suggestions: ['send the lines in several requests'] },
  `A body of application/x-ndjson may have at most ${MOST_LINES} lines; none of them was processed.`,
);
const NO_SESSION = failure('not_found', {}, 'Session not found.');
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
const MAX_UNSENT = 1024 * 1024;
const MOST_UNSENT = 32 * 1024 * 1024;
const MOST_SESSIONS = 100;
const AFTERLIFE_MS = 30_000;
const SESSION: RouteParameter = {
  in: 'header',
  name: 'X-Session-Id',
  description: 'The session_id that POST /a2e/session gave.',
  required: true,
  schema: { type: 'string' },
};
