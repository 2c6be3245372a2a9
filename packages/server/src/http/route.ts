import type { IncomingHttpHeaders } from 'node:http';
import type { LongText, Principal } from '@dragoman/core';
import type { Failure, Json, JsonLimits, JsonSchema, Outcome } from '@dragoman/protocols';
import type { Count } from './count.ts';

/**
 * Who may call a route. `public`: any caller, and keys are ignored. `open`: any caller, but a key that is sent must be
 * valid, because its holder expects to be identified. The authorisation matrix of the tests is generated from this.
 */
export type Access = 'public' | 'open' | 'agent' | 'admin';

/** One HTTP route. OpenAPI, the authorisation matrix and the router are made from the table of routes. */
export interface Route {
  /** A `GET` route answers `HEAD` too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A pattern of the router, such as `/e2a/requests/:request_id/responses`. */
  readonly path: string;
  readonly access: Access;
  /**
   * On an open route: the failure for a caller without a key, before its body is read. Absent: such a caller may call.
   */
  readonly refuseAnonymous?: Failure;
  /** On an open route: a caller without a key must sign each message, or it is refused. */
  readonly isSigned?: true;
  /** Whether the resource in the path belongs to one caller. For every other caller it looks absent. */
  readonly owned?: boolean;
  /** One sentence, for OpenAPI. */
  readonly summary: string;
  /** The query parameters and headers of a request, for OpenAPI. */
  readonly parameters?: readonly RouteParameter[];
  /** The schemas of the answer by content type, for OpenAPI. Default: any JSON. */
  readonly answers?: Readonly<Record<string, JsonSchema>>;
  /** The accepted body. Absent: the route accepts no body and answers 415 to one. */
  readonly body?: RouteBody;
  /** Whether a call counts against the caller's limits. Resuming, health and discovery do not. */
  readonly counts: boolean;
  /** Counts a call. Default: the `count` of the edge. */
  readonly count?: Count;
  /** Answers a call that is over its caller's limits. Default: the failure is worded. */
  readonly overLimit?: (failure: Failure, request: InboundRequest) => Promise<Answer | Failure>;
  /** Words the failures of this route. Default: RFC 9457. */
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
  /**
   * A sender without a key may send at most `limits.unproven_bytes` of it, unless the beginning of the body is a proof.
   */
  readonly maxBytes: number;
  readonly proof?: BodyProof;
  readonly schema?: JsonSchema;
}

/**
 * A cheap proof in the beginning of a body, for which up to `maxBytes` are read. It does not authenticate the sender.
 */
export interface BodyProof {
  /** Whether the beginning has the proof. Must take linear time, and parse nothing. */
  isIn(start: Uint8Array): boolean;
  /** What a sender can do to provide the proof, for the refusal. */
  readonly suggestion: string;
}

/** A request whose headers, size and caller have been checked. */
export interface InboundRequest {
  readonly method: string;
  /** As it was sent, without the query. Only `params` are percent-decoded. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Empty if the route takes no body. */
  readonly body: Uint8Array;
  /** The JSON in the body, within the limits of this server. Returns a promise only for a long body. */
  readJson(limits?: JsonLimits): Outcome<Json> | Promise<Outcome<Json>>;
  /** `undefined` only on public and open routes. */
  readonly principal: Principal | undefined;
  /** The peer's address, after trusted proxies. */
  readonly address: string;
  /** The URL of this server as the client sees it, without a trailing slash: `https://agents.example.com/base`. */
  readonly baseUrl: string;
  /** Aborts when the peer is gone or the server must stop at once. */
  readonly signal: AbortSignal;
  /** Reports that the body has proven its sender, so that its bytes no longer count as those of an unproven sender. */
  welcome(): void;
}

/** The answer: one body, or a stream of chunks that is pulled only as fast as the peer reads. */
export interface Answer {
  readonly status: number;
  /**
   * Override the default headers. Names must be capitalized as usual, such as `Content-Type`, because they are compared
   * literally.
   */
  readonly headers?: Readonly<Record<Capitalize<string>, string>>;
  readonly json?: Json;
  readonly text?: string;
  /** A long text body, written no faster than the peer reads, with its length in the header. */
  readonly longText?: LongText;
  /** Written chunk by chunk; the next chunk is pulled when the socket has drained. */
  readonly stream?: AsyncIterable<string>;
}

/** One WebSocket surface, on the same port as the routes. */
export interface SocketRoute {
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  /** The supported subprotocols, the preferred one first. A peer that offers only others is refused. */
  readonly subprotocols?: readonly string[];
  /**
   * Whether the socket carries answers to other requests. When the server stops, the socket stays open until the peer
   * closes it or the server has nothing left to wait for.
   */
  readonly carriesAnswers?: boolean;
  /** The largest message that this route accepts. Default: the limit of the edge. */
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
  /** Bytes that were sent, but not yet taken by the operating system. */
  readonly bufferedBytes: number;
  /**
   * Resolves when the operating system has taken the text; rejects when the connection is gone. Sends keep their order.
   */
  send(text: string): Promise<void>;
  /**
   * Reports that the peer has proven to be this caller. Before, a message of more than `limits.unproven_bytes` closes
   * the connection.
   */
  welcome(principal: Principal): void;
  /** Takes one of the caller's places for an answer, or returns why there is none left. */
  reserve(): Reserved | Failure;
  /** Starts the closing handshake (RFC 6455 §7.4 has the codes). */
  close(code: number, reason?: string): void;
}

/** A place that was taken. It must be released exactly once. */
export interface Reserved {
  release(): void;
}
