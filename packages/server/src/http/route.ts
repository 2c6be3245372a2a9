import type { IncomingHttpHeaders } from 'node:http';
import type { LongText, Principal } from '@dragoman/core';
import type { Failure, Json, JsonLimits, JsonSchema, Outcome } from '@dragoman/protocols';
import type { Count } from './count.ts';

/**
 * The access to a route. `public`: any caller, and keys are ignored. `open`: any caller, but a given key must be
 * valid, because its holder expects to be identified. The authorisation matrix of the tests is generated from this.
 */
export type Access = 'public' | 'open' | 'agent' | 'admin';

/** One HTTP surface. OpenAPI, the authorisation matrix and the router are all made from the table of these. */
export interface Route {
  /** A `GET` route answers `HEAD` too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As the router reads it: `/e2a/requests/:request_id/responses`. */
  readonly path: string;
  readonly access: Access;
  /** On an open route: why a caller without a key is refused, before its body is read. Absent: it is not. */
  readonly refuseAnonymous?: Failure;
  /** On an open route: a caller without a key has to sign each message, and gets nothing without that. */
  readonly isSigned?: true;
  /** Whether what the path names belongs to one caller, so that it looks absent to every other. */
  readonly owned?: boolean;
  /** One sentence, for OpenAPI. */
  readonly summary: string;
  /** The parameters of a request beside its path and body, for OpenAPI. */
  readonly parameters?: readonly RouteParameter[];
  /** The schemas of the answer by content type, for OpenAPI. Default: any JSON. */
  readonly answers?: Readonly<Record<string, JsonSchema>>;
  /** The accepted body. Absent: the route accepts no body and answers 415 to one. */
  readonly body?: RouteBody;
  /** Whether a call counts against the caller's limits. Resuming, health and discovery do not. */
  readonly counts: boolean;
  /** How a call is counted, where it is not as everywhere else. */
  readonly count?: Count;
  /** Answers a call that is over its caller's limits, where that takes more than words. */
  readonly overLimit?: (failure: Failure, request: InboundRequest) => Promise<Answer | Failure>;
  /** How this surface words failures; RFC 9457 unless given. */
  readonly wordFailure?: (failure: Failure, request: InboundRequest) => Answer;
  /** A failure, returned or carried by an error, is formatted by `wordFailure`. Any other error is internal: 500. */
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
  /** A sender without a key may send at most `limits.unproven_bytes` of it, unless the beginning of the body is a proof. */
  readonly maxBytes: number;
  readonly proof?: BodyProof;
  readonly schema?: JsonSchema;
}

/** A cheap proof in the beginning of a body, for which up to `maxBytes` are read. It does not authenticate the sender. */
export interface BodyProof {
  /** Whether it is there. Must be linear in the bytes, and parse nothing. */
  isIn(start: Uint8Array): boolean;
  /** How a sender provides it, for the refusal. */
  readonly suggestion: string;
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
  /** The JSON in the body, within the limits of this server; at once unless it is long. */
  readJson(limits?: JsonLimits): Outcome<Json> | Promise<Outcome<Json>>;
  /** `undefined` only on public and open routes. */
  readonly principal: Principal | undefined;
  /** The peer's address, after trusted proxies. */
  readonly address: string;
  /** The URL of this server as the client sees it, without a trailing slash: `https://agents.example.com/base`. */
  readonly baseUrl: string;
  /** Aborts when the peer is gone or the server must stop at once. */
  readonly signal: AbortSignal;
  /** The body has proven its sender: its bytes no longer count as those of unproven senders. */
  welcome(): void;
}

/** The answer: one body, or a stream of chunks that is pulled only as fast as the peer reads. */
export interface Answer {
  readonly status: number;
  /** These win over the kernel's own. Each name as it is usually written, `Content-Type`: that is how they are compared. */
  readonly headers?: Readonly<Record<Capitalize<string>, string>>;
  readonly json?: Json;
  readonly text?: string;
  /** The same for a long body: written no faster than the peer reads, with its length in the header. */
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
   * It carries answers to other requests: when the server stops it continues until the peer ends it, as
   * long as the server waits for anything.
   */
  readonly carriesAnswers?: boolean;
  /** The largest message it takes, where that is not the limit of all. */
  readonly maxMessageBytes?: number;
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
  /** Aborts when the peer is gone or the server must stop at once; with the error, if the peer broke a rule. */
  readonly signal: AbortSignal;
  /** Sent, but not yet taken by the operating system. */
  readonly bufferedBytes: number;
  /** Resolves when the operating system has taken the text; rejects when the connection is gone. Sends keep their order. */
  send(text: string): Promise<void>;
  /** The peer has proven to be this caller. Before, a message of more than `limits.unproven_bytes` closes the connection. */
  welcome(principal: Principal): void;
  /** A place for one more answer to this caller, among its requests and connections; or the reason for a refusal. */
  reserve(): Reserved | Failure;
  /** Starts the closing handshake (RFC 6455 §7.4 has the codes). */
  close(code: number, reason?: string): void;
}

/** Give it back exactly once. */
export interface Reserved {
  release(): void;
}
