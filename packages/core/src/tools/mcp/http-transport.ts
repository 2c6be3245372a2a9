import { type Issue, isObject, type Json, type JsonObject, type Outcome, SseParser } from '@dragoman/protocols';
import type { Gate, InboundAnswer, OutboundHeader, OutboundRequest } from '../../gate/gate.ts';
import { wholeBody } from '../../gate/whole-body.ts';
import type { Clock, Log } from '../../ports/ports.ts';
import type { JsonReader } from '../../worker-threads/json-reader.ts';
import { AnswerBrokeOff, HttpStatusError } from './mcp-error.ts';
import type { McpReceiver, McpTransport, RequestId } from './mcp-transport.ts';
import { NoticeLimit } from './notice-limit.ts';
import { answeredId, unreadableAnswer } from './unreadable-answer.ts';

export interface HttpTransportOptions {
  readonly server: string;
  readonly url: string;
  /** The operator's headers, into which the gate puts secrets. They never contain anything that an agent sent. */
  readonly headers: Readonly<Record<string, OutboundHeader>>;
  readonly gate: Gate;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly reader: JsonReader;
}

/**
 * MCP, Streamable HTTP: each message is a POST, answered by a message or a stream of events. A GET opens the stream of
 * the server's own messages. A stream that ends too early is requested again from its last event:
 *
 *   open ──it ends──▶ waiting ──a second or more──▶ asking ──▶ open
 *                        ▲──────after 5 tries: given up──│
 */
export class McpHttpTransport implements McpTransport {
  readonly lastWords = '';
  readonly #options: HttpTransportOptions;
  readonly #ownHeaders: OutboundRequest['headers'];
  readonly #notices: NoticeLimit;
  readonly #strands = new Set<Strand>();
  #receiver: McpReceiver | undefined;
  #sessionId: string | undefined;
  #revision: string | undefined;
  #isClosed = false;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#ownHeaders = options.headers;
    this.#notices = new NoticeLimit({ clock: options.clock, onFlood: () => this.#cutOff('it sent too many messages') });
  }

  get hasSession(): boolean {
    return this.#sessionId !== undefined;
  }

  async start(receiver: McpReceiver): Promise<void> {
    this.#receiver = receiver;
  }

  useRevision(revision: string): void {
    this.#revision = revision;
  }

  async send(message: JsonObject): Promise<void> {
    const { id, method } = message;
    const isRequest = method !== undefined && (typeof id === 'string' || typeof id === 'number');
    const strand = this.#strand(isRequest ? id : undefined);
    let isRead = false;
    try {
      const answer = await this.#request(strand, 'POST', POST_HEADERS, message);
      const session = answer.headers['mcp-session-id'];
      if (typeof session === 'string' && session !== '') this.#sessionId = session;
      if (answer.status < 200 || answer.status >= 300)
        throw new HttpStatusError(answer.status, await beginningOf(answer));
      isRead = isRequest && answer.status !== ACCEPTED;
      if (isRead) void this.#read(strand, answer);
      else await leave(answer);
    } finally {
      if (!isRead) this.#strands.delete(strand);
    }
    if (isRequest && !isRead) this.#over(strand);
    if (method === 'notifications/initialized') void this.#listen();
  }

  abandon(id: RequestId): void {
    for (const strand of this.#strands) if (strand.id === id) strand.ended.abort(new Error('the request was given up'));
  }

  async endSession(): Promise<void> {
    if (this.#sessionId === undefined) return;
    const strand = this.#strand(undefined);
    try {
      await leave(await this.#request(strand, 'DELETE', {}));
      this.#sessionId = undefined;
    } finally {
      this.#strands.delete(strand);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { ended } of this.#strands) ended.abort(new Error('the connection closed'));
    this.#strands.clear();
    this.#receiver?.closed();
  }

  #strand(id: RequestId | undefined): Strand {
    const strand = { id, ended: new AbortController() };
    if (this.#isClosed) strand.ended.abort(new Error('the connection closed'));
    this.#strands.add(strand);
    return strand;
  }

  async #request(
    strand: Strand,
    method: 'GET' | 'POST' | 'DELETE',
    headers: OutboundRequest['headers'],
    message?: JsonObject,
  ): Promise<InboundAnswer> {
    const { gate, server, url, timeoutMs } = this.#options;
    const isStream = method === 'GET';
    const answer = await gate.request({
      caller: `mcp:${server}`,
      allowList: 'allow',
      method,
      url,
      headers: {
        ...headers,
        ...(this.#sessionId !== undefined && { 'mcp-session-id': this.#sessionId }),
        ...(this.#revision !== undefined && { 'mcp-protocol-version': this.#revision }),
        ...this.#ownHeaders,
      },
      ...(message !== undefined && { body: { bytes: Buffer.from(JSON.stringify(message)) } }),
      // The call has its own timeout, which does not run while a person is asked.
      timeoutMs: isStream || strand.id !== undefined ? STREAM_MS : timeoutMs,
      maxBytes: isStream ? STREAM_BYTES : MAX_BYTES,
      signal: strand.ended.signal,
    });
    if (!REDIRECTS.has(answer.status)) return answer;
    answer.end?.();
    throw redirected(answer);
  }

  /** Reads the answer to a request: a stream, JSON, or something unreadable. */
  async #read(strand: Strand, answer: InboundAnswer): Promise<void> {
    try {
      if (isStream(answer)) await this.#follow(strand, answer);
      else if (isJson(answer)) await this.#takeWhole(strand, await wholeBody(answer));
      else {
        await leave(answer);
        const type = String(answer.headers['content-type'] ?? 'nothing').slice(0, 100);
        if (strand.id !== undefined) this.#receiver?.fail(strand.id, unreadableAnswer(`it is ${type}`));
      }
    } catch {
      // `#over` rejects the request.
    }
    this.#over(strand);
  }

  /** Opens the stream of the server's own messages, if it has one. */
  async #listen(): Promise<void> {
    const strand = this.#strand(undefined);
    const answer = await this.#open(strand, '').catch(() => undefined);
    if (typeof answer === 'object') {
      await this.#follow(strand, answer);
      if (!strand.ended.signal.aborted) this.#cutOff('the stream of its own messages is gone');
    }
    this.#strands.delete(strand);
  }

  /** Reads a stream and the streams that continue it, until nobody needs it any more or it cannot be opened again. */
  async #follow(strand: Strand, answer: InboundAnswer): Promise<void> {
    let stream: InboundAnswer | undefined = answer;
    while (stream !== undefined) {
      const events = new SseParser({ maxEventBytes: MAX_BYTES });
      try {
        for await (const chunk of stream.body) {
          for (const event of events.push(chunk)) {
            if (strand.ended.signal.aborted) return;
            if (!event.ok) this.#takeUnreadable('', event.issues[0]);
            else if (isMessage(event.value)) await this.#takeEvent(strand, event.value.data);
          }
        }
      } catch {
        // A stream that breaks is continued like one that ends.
      }
      stream = await this.#reopened(strand, events);
    }
  }

  /** MCP, Resumability. `undefined` if the stream is over. */
  async #reopened(strand: Strand, { lastEventId, retry }: SseParser): Promise<InboundAnswer | undefined> {
    if (strand.id !== undefined && lastEventId === '') return undefined;
    const { signal } = strand.ended;
    for (let failures = 0; failures < TRIES && this.#isWanted(strand); failures++) {
      const pause = Math.min(Math.max(retry ?? 2 ** failures * PAUSE_MS, PAUSE_MS), LONGEST_PAUSE_MS);
      const isPassed = await this.#options.clock.wait(pause, signal).then(
        () => true,
        () => false,
      );
      if (!isPassed || !this.#isWanted(strand)) return undefined;
      const answer = await this.#open(strand, lastEventId).catch(() => 'later' as const);
      if (answer === 'never') return undefined;
      if (answer !== 'later') return answer;
    }
    return undefined;
  }

  /** Opens a stream of events; otherwise reports whether another attempt may succeed. */
  async #open(strand: Strand, lastEventId: string): Promise<InboundAnswer | 'later' | 'never'> {
    const resume = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    const answer = await this.#request(strand, 'GET', { accept: 'text/event-stream', ...resume });
    if (answer.status === OK && isStream(answer)) return answer;
    await leave(answer);
    // Other statuses do not change with time; some servers have a web page there.
    return answer.status >= 500 || answer.status === TOO_MANY ? 'later' : 'never';
  }

  #isWanted({ id, ended }: Strand): boolean {
    return !ended.signal.aborted && (id === undefined || this.#receiver?.awaits(id) === true);
  }

  /** Rejects the request that still waits for an answer on this strand. */
  #over(strand: Strand): void {
    this.#strands.delete(strand);
    if (strand.id !== undefined) this.#receiver?.fail(strand.id, new AnswerBrokeOff());
  }

  #json(source: Uint8Array | string): Outcome<Json> | Promise<Outcome<Json>> {
    const { reader, server } = this.#options;
    return reader.read(source, { caller: `mcp ${server}`, waits: true, limits: { numbers: 'finite' } });
  }

  async #takeEvent(strand: Strand, text: string): Promise<void> {
    const read = await this.#json(text);
    if (read.ok && isObject(read.value)) this.#take(strand, read.value);
    else this.#takeUnreadable(text, read.ok ? NO_OBJECT : read.issues[0]);
  }

  /** MCP 2025-03-26, Messages: the body may be a batch. */
  async #takeWhole(strand: Strand, bytes: Uint8Array): Promise<void> {
    const read = await this.#json(bytes);
    const messages = read.ok ? [read.value].flat() : [];
    for (const message of messages) if (isObject(message)) this.#take(strand, message);
    if (!read.ok && strand.id !== undefined) this.#receiver?.fail(strand.id, unreadableAnswer(read.issues[0]?.message));
  }

  #take({ id }: Strand, message: JsonObject): void {
    const isAwaited = message['method'] === undefined && this.#receiver?.awaits(message['id']) === true;
    if ((isAwaited || this.#notices.takes()) && !this.#isClosed) this.#receiver?.take(message, id);
  }

  #takeUnreadable(text: string, issue: Issue | undefined): void {
    const bytes = Buffer.from(text);
    const id = answeredId(bytes, bytes);
    if (id !== undefined && this.#receiver?.awaits(id) === true)
      this.#receiver.fail(id, unreadableAnswer(issue?.message));
    else this.#notices.takes();
  }

  #cutOff(why: string): void {
    if (this.#isClosed) return;
    const { log, server } = this.#options;
    log.warn({ mcp_server: server, error: why }, 'an MCP server is cut off');
    void this.close();
  }
}

/** The streams, one after the other, that carry one answer or the server's own messages. */
interface Strand {
  /** The request that is answered; `undefined` for the server's own messages. */
  readonly id: RequestId | undefined;
  readonly ended: AbortController;
}

/** Events with another name, or without data, are not messages. */
function isMessage({ event, data }: { readonly event: string; readonly data: string }): boolean {
  return data !== '' && event === 'message';
}

function isStream({ headers }: InboundAnswer): boolean {
  return mediaType(headers) === 'text/event-stream';
}

function isJson({ headers }: InboundAnswer): boolean {
  return mediaType(headers) === 'application/json';
}

function mediaType({ 'content-type': type }: InboundAnswer['headers']): string {
  return (
    String(type ?? '')
      .split(';', 1)[0]
      ?.trim()
      .toLowerCase() ?? ''
  );
}

/** The beginning of a body, for error messages. */
async function beginningOf(answer: InboundAnswer): Promise<string> {
  let text = '';
  try {
    for await (const chunk of answer.body) {
      text += Buffer.from(chunk).toString();
      if (text.length > MOST_QUOTED) break;
    }
  } catch {
    // The answer ended.
  }
  answer.end?.();
  return text.slice(0, MOST_QUOTED);
}

/** Reads a short body to its end, so that the connection can be reused; ends a long one. */
async function leave(answer: InboundAnswer): Promise<void> {
  await beginningOf(answer);
}

/** Redirects are not followed: they would send our headers and secrets elsewhere. */
function redirected({ status, headers: { location } }: InboundAnswer): Error {
  const to = typeof location === 'string' ? ` to ${location.slice(0, 200)}` : '';
  return new HttpStatusError(status, `it answered with a redirect${to}, which is not followed`);
}

const POST_HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const NO_OBJECT: Issue = { pointer: '', code: 'type', message: 'expected a JSON object' };
const REDIRECTS: ReadonlySet<number> = new Set([300, 301, 302, 303, 307, 308]);
const OK = 200;
const ACCEPTED = 202;
const TOO_MANY = 429;
const MOST_QUOTED = 4_096;
const MAX_BYTES = 8 * 1024 * 1024;
/** Streams that reach this limit are opened again. */
const STREAM_MS = 3_600_000;
const STREAM_BYTES = 64 * 1024 * 1024;
const TRIES = 5;
/** The shortest pause before a stream is opened again, whatever the server requests. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
