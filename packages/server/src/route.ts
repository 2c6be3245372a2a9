import type { IncomingHttpHeaders } from 'node:http';
import type { LongText, Principal } from '@dragoman/core';
import type { Failure, Json, JsonLimits, JsonSchema } from '@dragoman/protocols';
import type { Counted, CountedCall } from './edges/exchange.ts';

/**
 * Who may call a route. `public`: everybody, and no key is looked at. `open`: everybody, but a key that is given must be
 * good, because its holder believes to be somebody. The authorisation matrix of the tests is generated from this.
 */
export type Access = 'public' | 'open' | 'agent' | 'admin';

/** One HTTP surface. OpenAPI, the authorisation matrix and the router are all made from the table of these. */
export interface Route {
  /** A `GET` route answers `HEAD` too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As the router reads it: `/e2a/requests/:request_id/responses`. */
  readonly path: string;
  readonly access: Access;
  /** Whether what the path names belongs to one caller, so that it looks absent to every other. */
  readonly owned?: boolean;
  /** One sentence, for OpenAPI. */
  readonly summary: string;
  /** What a request may say beside its path and its body, for OpenAPI. */
  readonly parameters?: readonly RouteParameter[];
  /** What the answer may be, by content type, for OpenAPI; JSON of any shape unless given. */
  readonly answers?: Readonly<Record<string, JsonSchema>>;
  /** What a body may be; none: the route takes no body and answers 415 to one. */
  readonly body?: RouteBody;
  /** Whether a call counts against the caller's limits. Resuming, health and discovery do not. */
  readonly counts: boolean;
  /** How a call is counted, where it is not as everywhere else. */
  readonly count?: (call: CountedCall) => Counted;
  /** How this surface words failures; RFC 9457 unless given. */
  readonly wordFailure?: (failure: Failure, request: InboundRequest) => Answer;
  /** A failure, returned or carried by what is thrown, is worded by `wordFailure`. Anything else thrown is our fault: 500. */
  handle(request: InboundRequest): Answer | Failure | Promise<Answer | Failure>;
}

export interface RouteParameter {
  readonly in: 'query' | 'header';
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

export interface RouteBody {
  /** Lower case, without parameters. A body must name one of them; a request without a body need not. */
  readonly contentTypes: readonly string[];
  readonly maxBytes: number;
  readonly schema?: JsonSchema;
}

/** A request whose headers, size and caller have been checked. */
export interface InboundRequest {
  readonly method: string;
  /** Without the query, as it was sent: percent-encoding is undone in `params` only. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Empty when the route takes none. */
  readonly body: Uint8Array;
  /** How much JSON in the body may hold, where that is not as usual. */
  readonly jsonLimits?: JsonLimits | undefined;
  /** `undefined` only on public and open routes. */
  readonly principal: Principal | undefined;
  /** The peer's address, after trusted proxies. */
  readonly address: string;
  /** Aborts when the peer is gone or the server is told to stop at once. */
  readonly signal: AbortSignal;
}

/** What goes back: one body, or a stream of chunks that is pulled only as fast as the peer reads. */
export interface Answer {
  readonly status: number;
  /** These win over the kernel's own. Each name as it is usually written, `Content-Type`: that is how they are compared. */
  readonly headers?: Readonly<Record<Capitalize<string>, string>>;
  readonly json?: Json;
  readonly text?: string;
  /** The same where it is long: written no faster than the peer reads, and told with its length. */
  readonly longText?: LongText;
  /** Written to the raw response chunk by chunk; the next one is pulled when the socket has drained. */
  readonly stream?: AsyncIterable<string>;
}

/** One WebSocket surface, on the same port as the routes. */
export interface SocketRoute {
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  /** The subprotocols it speaks, most wanted first. A peer that offers only others is refused. */
  readonly subprotocols?: readonly string[];
  /**
   * It brings the answers to what others have asked: when the server stops it goes on until whoever opened it ends it, as
   * long as the server waits for anything.
   */
  readonly carriesAnswers?: boolean;
  /** The largest message it takes, where that is not the limit of all. */
  readonly maxMessageBytes?: number;
  /** The same for a peer that came without a key, until it is welcome; a longer one is its end. */
  readonly maxStrangerBytes?: number;
  /** Runs as long as the connection should live: when it returns, the connection is closed. */
  open(connection: Connection): Promise<void>;
}

/** One open WebSocket: text both ways, in order, no faster than either side reads. */
export interface Connection {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly subprotocol: string | undefined;
  /** `undefined` only on open routes. */
  readonly principal: Principal | undefined;
  /** The peer's address, after trusted proxies. */
  readonly address: string;
  /** Whole text messages, for one reader. Ends when the peer closes, and when the server stops taking new work. */
  readonly messages: AsyncIterable<string>;
  /** Aborts when the peer is gone or the server is told to stop at once; with the error, if the peer broke a rule. */
  readonly signal: AbortSignal;
  /** Sent, but not yet taken by the operating system. */
  readonly bufferedBytes: number;
  /** Resolves when the operating system has taken the text; rejects when the connection is gone. Sends keep their order. */
  send(text: string): Promise<void>;
  /** It is known who this is: it may send as much as anybody. */
  welcome(): void;
  /** Starts the closing handshake (RFC 6455 §7.4 has the codes). */
  close(code: number, reason?: string): void;
}
