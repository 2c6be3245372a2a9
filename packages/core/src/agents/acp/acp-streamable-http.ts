import { isObject, type JsonObject, SseParser } from '@dragoman/protocols';
import { connectFault } from '../../gate/connect-fault.ts';
import type { InboundAnswer, OutboundRequest } from '../../gate/gate.ts';
import { headerOf } from '../../gate/header-of.ts';
import { wholeBody } from '../../gate/whole-body.ts';
import { MAX_FRAME_BYTES } from '../agent-frame.ts';
import type { AcpRemoteOptions } from './acp-remote.ts';
import { AcpLineLost, type AcpTransport, type OpenAcpTransport } from './acp-transport.ts';
import { MessageInbox } from './message-inbox.ts';

/**
 * ACP over Streamable HTTP: each message is a POST, and the answers come on SSE streams, one of the connection and one of each
 * session. The first message, `initialize`, opens the connection and is answered in the same exchange.
 */
export function acpStreamableHttp(options: AcpRemoteOptions): OpenAcpTransport {
  return async () => new HttpTransport(options);
}

class HttpTransport implements AcpTransport {
  readonly messages = new MessageInbox();
  readonly lost: Promise<string>;
  readonly #options: AcpRemoteOptions;
  readonly #over = new AbortController();
  /** The streams that are open or being opened, by session; '' is that of the connection. */
  readonly #streams = new Map<string, OpenStream>();
  /** The session of each open request of the agent: the answer must name it. */
  readonly #sessionOf = new Map<unknown, string>();
  /** The open requests for a new session. */
  readonly #newSessions = new Set<unknown>();
  #connectionId: string | undefined;
  #sent: Promise<void> = Promise.resolve();
  #unsent = 0;
  #lose: (reason: string) => void = () => {};

  constructor(options: AcpRemoteOptions) {
    this.#options = options;
    this.lost = new Promise((resolve) => {
      this.#lose = (reason) => {
        this.#over.abort();
        this.messages.end();
        resolve(reason);
      };
    });
  }

  send(message: JsonObject): void {
    if (this.#unsent >= MOST_UNSENT) {
      this.#lose(NOT_READ);
      throw new AcpLineLost(NOT_READ);
    }
    this.#unsent += 1;
    this.#sent = this.#sent
      .then(() => this.#post(message))
      .catch((error: unknown) => {
        const why = error instanceof AcpLineLost ? error.message : connectFault(error);
        this.#lose(`The agent cannot be reached: ${why}.`);
      })
      .finally(() => {
        this.#unsent -= 1;
      });
  }

  forget(sessionId: string): void {
    this.#streams.get(sessionId)?.stop.abort();
    this.#streams.delete(sessionId);
  }

  async end(): Promise<void> {
    const id = this.#connectionId;
    this.#lose('The connection to the agent was closed.');
    if (id === undefined) return;
    this.#connectionId = undefined;
    await this.#request('DELETE', { 'acp-connection-id': id }).then(
      (answer) => answer.end?.(),
      () => {},
    );
  }

  async #post(message: JsonObject): Promise<void> {
    if (this.#over.signal.aborted) return;
    const { method, id, params } = message;
    const session = isObject(params) ? params['sessionId'] : this.#sessionOf.get(id);
    if (method === undefined) this.#sessionOf.delete(id);
    if (method === 'session/new') this.#newSessions.add(id);
    const isOfSession = typeof session === 'string';
    if (isOfSession) await this.#stream(session);
    const headers = {
      'content-type': 'application/json',
      ...this.#connection(),
      ...(isOfSession && { 'acp-session-id': session }),
    };
    const answer = await this.#request('POST', headers, { message, signal: this.#over.signal });
    if (answer.status < 200 || answer.status >= 300) return this.#refused(answer, message);
    if (method !== 'initialize') return answer.end?.();
    this.#connectionId = headerOf(answer, 'acp-connection-id') ?? '';
    const body = Buffer.from(await wholeBody(answer)).toString();
    if (this.#connectionId === '') throw new AcpLineLost('its answer to initialize has no Acp-Connection-Id');
    await this.#stream('');
    await this.#take(body);
  }

  /** A refused request fails alone; any other refused message, or an unknown connection, ends the connection. */
  async #refused(answer: InboundAnswer, { method, id }: JsonObject): Promise<void> {
    answer.end?.();
    const { status } = answer;
    if (CONNECTION_LOST.has(status) || method === 'initialize' || method === undefined || id === undefined) {
      this.#lose(`The agent answered with HTTP ${status}.`);
      return;
    }
    const error = { code: -32603, message: `The agent answered with HTTP ${status}.` };
    await this.#take(JSON.stringify({ jsonrpc: '2.0', id, error }));
  }

  /** Resolves when the stream is open, so that no message of the agent is lost. */
  #stream(session: string): Promise<void> {
    const known = this.#streams.get(session);
    if (known !== undefined) return known.opened;
    const stop = new AbortController();
    const opened = this.#open(session, AbortSignal.any([stop.signal, this.#over.signal]));
    this.#streams.set(session, { opened, stop });
    return opened;
  }

  async #open(session: string, signal: AbortSignal): Promise<void> {
    const headers = { ...this.#connection(), ...(session !== '' && { 'acp-session-id': session }) };
    const answer = await this.#request('GET', { accept: 'text/event-stream', ...headers }, { signal });
    if (answer.status !== 200) {
      answer.end?.();
      throw new AcpLineLost(`it answered HTTP ${answer.status}; expected a stream`);
    }
    void this.#read(answer, session, signal);
  }

  async #read(answer: InboundAnswer, session: string, signal: AbortSignal): Promise<void> {
    const events = new SseParser({ maxEventBytes: MAX_FRAME_BYTES });
    try {
      for await (const chunk of answer.body) {
        for (const event of events.push(chunk)) {
          await (event.ok ? this.#take(event.value.data, session) : this.messages.push(event));
        }
      }
    } catch {
      // A broken stream has ended.
    }
    // Answers in flight are lost with it, and ACP has no way to request them again.
    if (!signal.aborted) this.#lose('The connection to the agent was lost.');
  }

  async #take(text: string, session = ''): Promise<void> {
    const { reader, id: agent } = this.#options;
    const read = await reader.read(text, { caller: `agent ${agent}`, waits: true });
    if (read.ok && isObject(read.value)) {
      const { method, id, result } = read.value;
      if (method !== undefined && id !== undefined && session !== '') this.#sessionOf.set(id, session);
      // The stream of a new session is open before the session is used. Any other answer could make us open any number of streams.
      const isNewSession = method === undefined && this.#newSessions.delete(id);
      if (isNewSession && isObject(result) && typeof result['sessionId'] === 'string')
        await this.#stream(result['sessionId']);
    }
    await this.messages.push(read);
  }

  #connection(): Record<string, string> {
    return this.#connectionId === undefined ? {} : { 'acp-connection-id': this.#connectionId };
  }

  #request(
    method: 'GET' | 'POST' | 'DELETE',
    headers: NonNullable<OutboundRequest['headers']>,
    { message, signal }: { readonly message?: JsonObject; readonly signal?: AbortSignal } = {},
  ): Promise<InboundAnswer> {
    const { gate, url, id, headers: own } = this.#options;
    const isStream = method === 'GET';
    return gate.request({
      caller: `agent ${id}`,
      allowList: 'allow',
      method,
      url: url.href,
      headers: { ...own, ...headers },
      ...(message !== undefined && { body: { bytes: Buffer.from(JSON.stringify(message)) } }),
      timeoutMs: isStream ? LONGEST_MS : POST_MS,
      maxBytes: isStream ? Number.POSITIVE_INFINITY : MAX_FRAME_BYTES,
      ...(signal !== undefined && { signal }),
    });
  }
}

interface OpenStream {
  /** Resolves when the agent has answered. */
  readonly opened: Promise<void>;
  readonly stop: AbortController;
}

const CONNECTION_LOST: ReadonlySet<number> = new Set([401, 403, 404, 410]);
const POST_MS = 30_000;
const LONGEST_MS = 24 * 3_600_000;
const MOST_UNSENT = 1000;
const NOT_READ = 'The agent does not read its input.';
