import type { Json, JsonObject } from '@dragoman/protocols';
import { Admin } from './admin.ts';
import { type AgentIdentity, AgentMessages } from './agent-messages.ts';
import { StreamedAnswer } from './answer.ts';
import { type EnvelopeOptions, envelopeOf, type SendInput } from './envelope-of.ts';
import { Http } from './http.ts';
import { HttpTransport } from './http-transport.ts';
import { insist } from './insist.ts';
import { objectGiven, textGiven } from './invalid-argument.ts';
import { Knowledge } from './knowledge.ts';
import { Mailbox } from './mailbox.ts';
import { PendingQuestions } from './pending-questions.ts';
import { Place } from './place.ts';
import { queryOf, REQUEST_PAGE, type RequestListQuery, type RequestPage } from './request-page.ts';
import type { Reconnect } from './resumed.ts';
import { DEFAULT_RETRY, type RetryOptions, RetryPauses } from './retry.ts';
import { type HistoryPage, type SessionOptions, Sessions } from './sessions.ts';
import { type ConnectOptions, SocketSession } from './socket-session.ts';
import type { Transport } from './transport.ts';
import type { WebSocketConstructor } from './web-socket.ts';
import { Workflows } from './workflows.ts';

export interface ClientOptions {
  /** The base URL of the server, such as `http://127.0.0.1:7420`. It may have a path, for a server behind a proxy. */
  readonly url: string;
  /**
   * The API key. Without a key, only `health()`, the mailbox for anonymous senders, and `agent()` with a signature
   * work.
   */
  readonly key?: string;
  /** Default: the `fetch` of the runtime. */
  readonly fetch?: typeof fetch;
  /** For `connect()` in runtimes without a WebSocket, such as Node before version 22: that of the `ws` package. */
  readonly WebSocket?: WebSocketConstructor;
  readonly retry?: RetryOptions;
}

export interface SendOptions extends EnvelopeOptions {
  /** Stops waiting for the answer. The work continues: `cancel()` ends it. */
  readonly signal?: AbortSignal | undefined;
  /** Called before every retry after a broken connection. */
  readonly onReconnect?: ((event: Reconnect) => void) | undefined;
}

export interface ResumeOptions {
  /** The sequence of the last frame received. Default: -1, which reads all frames. */
  readonly after?: number;
  readonly signal?: AbortSignal;
  readonly onReconnect?: (event: Reconnect) => void;
}

/** An agent that a caller may ask. */
export interface ReachableAgent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The URL of its A2A card. */
  readonly url: string;
}

export interface ServerHealth {
  readonly status: string;
  readonly service: string;
  readonly version: string;
}

export function createClient(options: ClientOptions): Client {
  return new Client(options);
}

/** A client of one server, with one key. */
export class Client {
  readonly sessions: Sessions;
  /** The open questions to people. */
  readonly questions: PendingQuestions;
  readonly admin: Admin;
  readonly mailbox: Mailbox;
  readonly workflows: Workflows;
  readonly knowledge: Knowledge;
  readonly #http: Http;
  readonly #overHttp: HttpTransport;
  readonly #retry: Required<RetryOptions>;
  readonly #WebSocket: WebSocketConstructor | undefined;

  constructor(options: ClientOptions) {
    const { url, key, fetch, WebSocket, retry } = objectGiven(
      options,
      'options',
      "{ url: 'http://127.0.0.1:7420', key }",
    );
    this.#retry = { ...DEFAULT_RETRY, ...retry };
    this.#http = new Http({ url, key, fetch, silenceMs: this.#retry.silenceMs });
    this.#overHttp = new HttpTransport(this.#http);
    this.#WebSocket = WebSocket;
    this.sessions = new Sessions((method, params, options) => this.request(method, params, options));
    this.questions = new PendingQuestions(this.#http, this.#retry);
    this.admin = new Admin(this.#http);
    this.mailbox = new Mailbox(this.#http, this.#retry);
    this.workflows = new Workflows(this.#http, this.#retry);
    this.knowledge = new Knowledge(this.#http, this.#retry);
  }

  /** Sends text or an envelope immediately and returns the answer to read. */
  send(input: SendInput, options: SendOptions = {}): StreamedAnswer {
    return this.#send(this.#overHttp, input, options);
  }

  /** The answer to an earlier request, sent by any program with this key, from any frame on. */
  resume(requestId: string, { after = -1, signal, onReconnect }: ResumeOptions = {}): StreamedAnswer {
    const exchange = {
      requestId: textGiven(requestId, 'requestId'),
      envelope: undefined,
      transport: this.#overHttp,
      // One frame earlier, because an ended stream returns nothing after its final frame.
      place: new Place({ requestId, after: Math.max(-1, after - 1) }),
      has: after,
      backoff: new RetryPauses(this.#retry),
      signal,
      onReconnect,
    };
    return new StreamedAnswer(exchange, () => this.cancel(requestId));
  }

  /** This caller's requests of any protocol, newest change first. */
  requests({ signal, ...query }: RequestListQuery = {}): Promise<RequestPage> {
    const request = { path: `e2a/requests?${queryOf(query)}`, signal, gives: REQUEST_PAGE };
    return insist(this.#http, this.#retry, request);
  }

  /** Cancels a running request. Returns `false` if it had ended already. */
  async cancel(requestId: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<boolean> {
    const path = `e2a/requests/${encodeURIComponent(textGiven(requestId, 'requestId'))}/cancel`;
    const request = { method: 'POST', path, signal, gives: { cancelled: 'boolean' } } as const;
    return (await insist<{ cancelled: boolean }>(this.#http, this.#retry, request)).cancelled;
  }

  /** Calls a method of the server or of an agent. Returns the result or throws its `DragomanError`. */
  async request(method: string, params: JsonObject = {}, options: SendOptions = {}): Promise<Json> {
    return this.send({ method: textGiven(method, 'method'), params }, { stream: false, ...options }).result();
  }

  /** The turns of a session, newest first, fifty a page. */
  history(session: string, page: SessionOptions & { readonly page?: number } = {}): Promise<HistoryPage> {
    return this.sessions.history(session, page);
  }

  /** Acts as an agent toward other agents: finds them, sends requests, registers. */
  agent(identity: AgentIdentity): AgentMessages {
    return new AgentMessages(this.#http, objectGiven(identity, 'identity', "{ agentId: 'my-agent' }"));
  }

  /** The agents that this caller may ask. */
  async agents({ signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly ReachableAgent[]> {
    const request = { path: 'lf-a2a/agents', signal, gives: { agents: 'array' } } as const;
    return (await insist<{ agents: readonly ReachableAgent[] }>(this.#http, this.#retry, request)).agents;
  }

  /** The health of the server. Not retried. */
  health({ signal }: { readonly signal?: AbortSignal } = {}): Promise<ServerHealth> {
    return this.#http.json({ path: 'health', signal, gives: { status: 'string', service: 'string' } });
  }

  /** Exchanges the one-time token of a link to the console for its keys. Not retried, because a token is valid once. */
  signInWithToken(token: string): Promise<{ readonly key?: string; readonly admin_key?: string }> {
    const body = JSON.stringify({ token: textGiven(token, 'token') });
    return this.#http.json({ method: 'POST', path: 'console/sign-in', body, gives: {} });
  }

  /** Opens a WebSocket that carries many requests at once. */
  connect(options: ConnectOptions = {}): Promise<SocketSession> {
    return SocketSession.open({
      http: this.#http,
      overHttp: this.#overHttp,
      retry: this.#retry,
      WebSocket: this.#WebSocket,
      send: (transport, input, sendOptions) => this.#send(transport, input, sendOptions),
      ...options,
    });
  }

  #send(transport: Transport, input: SendInput, options: SendOptions): StreamedAnswer {
    const { signal, idempotencyKey, onReconnect } = options;
    const envelope = envelopeOf(input, options);
    const requestId = envelope.request_id;
    const place = new Place({ requestId, finalOnly: !envelope.is_stream });
    const backoff = new RetryPauses(this.#retry);
    const exchange = { requestId, envelope, transport, place, backoff, signal, idempotencyKey, onReconnect };
    return new StreamedAnswer(exchange, () => this.cancel(requestId));
  }
}
