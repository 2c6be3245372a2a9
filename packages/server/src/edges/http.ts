import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, type Ids, JsonReader, type Log, type Principal, type UnreadBudget } from '@dragoman/core';
import { failure, type JsonLimits } from '@dragoman/protocols';
import type { Count } from '../http/count.ts';
import { problemAnswer } from '../http/problem.ts';
import type { Answer, Route, SocketRoute } from '../http/route.ts';
import { createRouter } from '../http/router.ts';
import type { AccessedRequest } from '../metrics/request-meter.ts';
import type { EdgeLoad } from '../metrics/server-metrics.ts';
import { reportAcceptErrors } from './accept-errors.ts';
import { writeAnswer } from './answer.ts';
import { Boundary, type BoundaryOptions } from './boundary.ts';
import { CallerPlaces } from './caller-places.ts';
import type { ConnectionShares } from './connection-shares.ts';
import { eachSecond } from './each-second.ts';
import { Exchange, type ExchangeContext } from './exchange.ts';
import { HttpRequest } from './http-request.ts';
import { type Intake, openIntake } from './intake.ts';
import { endWith, lastAnswer, rawAnswer } from './last-answer.ts';
import { DEFAULT_HTTP_LIMITS, type HttpLimits, type SocketLimits } from './limits.ts';
import { reachable } from './reachable.ts';
import { ResponseWriter } from './response-writer.ts';
import { SocketEdge } from './websocket.ts';

export interface HttpEdgeOptions extends BoundaryOptions {
  readonly routes: readonly Route[];
  readonly sockets?: readonly SocketRoute[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Counts the calls of routes with `counts`. */
  readonly count?: Count;
  /** Called for every request when it is over. */
  readonly observe?: (seen: AccessedRequest) => void;
  readonly limits?: Partial<HttpLimits>;
  /** Shared by all edges of a server. */
  readonly intake?: Intake;
  /** The limits for JSON in bodies, which the routes read. */
  readonly jsonLimits?: JsonLimits;
  /** Reads JSON in bodies. Default: a reader of its own. */
  readonly reader?: JsonReader;
  readonly socketLimits?: Partial<SocketLimits>;
  /** The bytes that peers leave unread, of all edges together. */
  readonly unread?: UnreadBudget | undefined;
}

/** The edge for HTTP and WebSocket, on one port. The routes handle the content. */
export class HttpEdge implements AsyncDisposable {
  readonly #context: ExchangeContext;
  readonly #server: Server;
  readonly #sockets: SocketEdge;
  readonly #pipelines = new Map<Socket, Pipeline>();
  readonly #connections: ConnectionShares;
  #closed: Promise<void> | undefined;
  /** The number of refused connections whose peers have not read the refusal yet. */
  #refusing = 0;
  readonly #reportRefusal: () => void;

  constructor(options: HttpEdgeOptions) {
    const { clock, ids, log } = options;
    const limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
    const boundary = new Boundary(options);
    const { count, observe, jsonLimits, reader = new JsonReader(), unread, intake = openIntake({ clock }) } = options;
    const { unproven } = intake;
    this.#connections = intake.connections;
    this.#reportRefusal = eachSecond(clock, (refused) =>
      log.warn({ refused }, 'Connections were refused: too many are open, or too many from one address.'),
    );
    const places = new CallerPlaces(limits.maxPerCaller);
    const router = createRouter(options.routes);
    const shared = { router, boundary, places, unread, unproven, reader };
    this.#context = { ...shared, count, observe, limits, jsonLimits, clock, ids, log };
    this.#sockets = new SocketEdge({
      routes: options.sockets ?? [],
      boundary,
      places,
      unread,
      intake,
      clock,
      log,
      maxHeaderFields: limits.maxHeaderFields,
      ...(options.socketLimits === undefined ? {} : { limits: options.socketLimits }),
    });
    this.#server = this.#createServer(limits);
  }

  /** Resolves with the URL that it listens on. Port 0 is any free port. */
  listen({ host, port }: { readonly host: string; readonly port: number }): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject);
        reportAcceptErrors(this.#server, this.#context);
        const address = this.#server.address();
        const bound = typeof address === 'object' && address !== null ? address.port : port;
        resolve(`http://${reachable(host)}:${bound}`);
      });
    });
  }

  /** The number of open connections, streams and sockets. */
  get load(): EdgeLoad {
    let streams = 0;
    for (const { running } of this.#pipelines.values()) if (running?.isStreaming === true) streams++;
    return { connections: this.#pipelines.size, streams, sockets: this.#sockets.size };
  }

  /** Closes the requests and sockets of callers, such as those of a revoked key. */
  disconnect(isGone: (principal: Principal) => boolean): void {
    this.#sockets.disconnect(isGone);
    for (const { running } of this.#pipelines.values()) {
      if (running?.principal === undefined || !isGone(running.principal)) continue;
      running.abort();
      running.response.destroy();
    }
  }

  /**
   * Stops in steps. Accepts nothing new and lets running requests finish for `drainMs`; then aborts their handlers, and
   * a moment later the WebSockets; then drops the remaining connections.
   */
  close({ drainMs = DRAIN_MS }: { readonly drainMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(drainMs: number): Promise<void> {
    const { clock, limits } = this.#context;
    const over = new AbortController();
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => {
        over.abort();
        resolve();
      });
    });
    this.#sockets.drain();
    for (const [socket, { running }] of this.#pipelines) {
      // Answers that begin from now on get `Connection: close`.
      if (running !== undefined) running.response.isLast = true;
      // Node closes idle connections, but not those that have never sent a byte.
      else if (socket.bytesRead === 0) socket.destroy();
    }
    const elapsed = (ms: number) => clock.wait(ms, over.signal).catch(ignore);
    await Promise.race([closed, elapsed(drainMs)]);
    for (const { running } of this.#pipelines.values()) running?.abort();
    // Requests interrupted at this moment still send their last frame, over HTTP or WebSocket.
    await Promise.race([closed, elapsed(limits.abortMs)]);
    this.#sockets.abort();
    await Promise.race([closed, elapsed(limits.abortMs)]);
    for (const socket of this.#pipelines.keys()) socket.destroy();
    await closed;
  }

  #createServer(limits: HttpLimits): Server {
    const server = createServer({
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkMs,
      maxHeaderSize: limits.maxHeaderBytes,
      insecureHTTPParser: false,
      // A second Host, Content-Type or Authorization must be seen, not dropped.
      joinDuplicateHeaders: true,
      // `Boundary` checks the Host and words the error.
      requireHostHeader: false,
    });
    // Node would silently drop fields above its limit. All fields stay visible, and an exchange with too many is
    // refused.
    server.maxHeadersCount = 0;
    // A peer that has closed its sending side still gets its answer.
    (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
    // Node's own listeners attach a parser. A connection without a place never gets that far.
    const attachParser = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      const giveBack = this.#connections.take(socket.remoteAddress);
      if (giveBack === undefined) return this.#refuseConnection(socket);
      socket.once('close', giveBack);
      for (const listener of attachParser) listener.call(server, socket);
      this.#welcome(socket);
    });
    server.on('request', (request, response) => this.#take(request, response, false));
    server.on('checkContinue', (request, response) => this.#take(request, response, true));
    server.on('checkExpectation', refuseExpectation);
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#refuseBytes(error, socket as Socket));
    server.on('upgrade', (request: IncomingMessage, socket, head) => this.#sockets.upgrade(request, socket, head));
    return server;
  }

  /**
   * Sends a fixed answer and parses nothing. While many peers leave theirs unread, further connections are dropped
   * without an answer.
   */
  #refuseConnection(socket: Socket): void {
    this.#reportRefusal();
    if (this.#refusing >= MOST_REFUSING) {
      socket.destroy();
      return;
    }
    this.#refusing += 1;
    const { clock, limits } = this.#context;
    const cancel = clock.after(limits.lingerMs, () => socket.destroy());
    socket.once('close', () => {
      cancel();
      this.#refusing -= 1;
    });
    // Closing with unread bytes would reset the connection, and the peer could lose the answer.
    socket.on('error', ignore).resume().end(NO_PLACE);
  }

  #welcome(socket: Socket): void {
    const pipeline: Pipeline = { socket, running: undefined, waiting: [], refusal: undefined };
    this.#pipelines.set(socket, pipeline);
    socket.once('close', () => this.#pipelines.delete(socket));
    socket.once('end', () => {
      if (pipeline.running !== undefined) void this.#probe(pipeline.running);
    });
  }

  #take(message: IncomingMessage, serverResponse: ServerResponse, expectsContinue: boolean): void {
    const pipeline = this.#pipelines.get(message.socket);
    if (pipeline === undefined) return;
    const request = new HttpRequest(message);
    const response = new ResponseWriter(serverResponse, this.#context.limits.stallMs);
    const onOver = () => this.#goOn(pipeline);
    const exchange = new Exchange(this.#context, { request, response, expectsContinue, onOver });
    if (pipeline.running === undefined) this.#start(pipeline, exchange);
    else if (pipeline.waiting.length < this.#context.limits.maxPipelined) pipeline.waiting.push(exchange);
    else pipeline.socket.destroy();
  }

  /** One request of a connection runs at a time. Pipelined requests wait, because answers are sent in order. */
  #start(pipeline: Pipeline, exchange: Exchange): void {
    pipeline.running = exchange;
    if (this.#closed !== undefined) exchange.response.isLast = true;
    void exchange.run();
  }

  #goOn(pipeline: Pipeline): void {
    const { socket } = pipeline;
    pipeline.running = undefined;
    // After the last answer, pipelined requests are ignored.
    if (!socket.writable) return;
    const next = pipeline.waiting.shift();
    pipeline.running = next;
    // In the next tick, because the previous exchange releases what it holds only after this callback.
    if (next !== undefined) process.nextTick(() => this.#start(pipeline, next));
    else if (pipeline.refusal !== undefined) endWith(socket, pipeline.refusal);
    // The stream was open when the server stopped, so its headers could not announce the end of the connection.
    else if (this.#closed !== undefined) socket.destroySoon();
  }

  /**
   * Finds out whether a peer that closed its half still waits for the answer: TCP reports a lost peer only when
   * something is written to it. From time to time the peer is sent `102 Processing` or, in a stream, an empty line; a
   * waiting peer ignores both.
   */
  async #probe(exchange: Exchange): Promise<void> {
    const { response, signal } = exchange;
    const { clock, limits } = this.#context;
    const over = new AbortController();
    response.whenOver(() => over.abort());
    const stop = AbortSignal.any([signal, over.signal]);
    const pause = () => clock.wait(limits.probeMs, stop).catch(ignore);
    // Most other answers are ready before a `102` would be of use.
    if (!exchange.isStreaming) await pause();
    for (; !stop.aborted; await pause()) {
      if (exchange.httpVersion !== '1.1') return;
      if (response.status === undefined) response.inform(102);
      // A stream is written in whole records, so this is between two records, where SSE and NDJSON ignore an empty
      // line.
      else if (exchange.isStreaming) response.write('\n');
      else return;
    }
  }

  /** The parser failed, or a time limit was exceeded. The bytes that follow on this connection are not a request. */
  #refuseBytes(error: NodeJS.ErrnoException, socket: Socket): void {
    const refusal = LAST_ANSWERS[error.code ?? ''] ?? LAST_ANSWER;
    const pipeline = this.#pipelines.get(socket);
    if (pipeline?.running?.isReceived === true) {
      // Complete requests before the invalid bytes are answered first.
      socket.pause();
      pipeline.refusal = refusal;
    } else if (pipeline?.running?.response.status !== undefined) socket.destroy();
    else endWith(socket, refusal);
  }
}

/** The exchanges of one connection. */
interface Pipeline {
  readonly socket: Socket;
  running: Exchange | undefined;
  readonly waiting: Exchange[];
  /** The answer to invalid bytes that followed the requests. */
  refusal: Answer | undefined;
}

function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const how = { personal: false, fields: [], retryAfter: undefined, isHeadOnly: false };
  writeAnswer(new ResponseWriter(response, 0), lastAnswer('expectation_failed'), how);
}

function ignore(): void {}

const DRAIN_MS = 10_000;
const MOST_REFUSING = 16;
const NO_PLACE = rawAnswer(
  problemAnswer(failure('busy', { retry_after: 1 }, 'Too many connections are open; try again later.')),
);
const LAST_ANSWER = lastAnswer('bad_request');
const SILENT_PEER = lastAnswer('request_timeout');
const LAST_ANSWERS: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: lastAnswer('headers_too_large'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: lastAnswer('too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: SILENT_PEER,
};
