import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import type { Clock, Log, Principal, UnreadBudget } from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import type { WebSocket, WebSocketServer } from 'ws';
import { isFailure, problemAnswer } from '../http/problem.ts';
import type { SocketRoute } from '../http/route.ts';
import { createRouter, type Match, type RouteTable } from '../http/router.ts';
import type { Boundary } from './boundary.ts';
import type { CallerPlaces } from './caller-places.ts';
import { ServedSocket } from './connection.ts';
import { refuseForm } from './form.ts';
import { HttpRequest } from './http-request.ts';
import type { Intake } from './intake.ts';
import { endWith } from './last-answer.ts';
import { DEFAULT_SOCKET_LIMITS, type SocketLimits } from './limits.ts';
import { readOffer } from './subprotocols.ts';

export interface SocketEdgeOptions {
  readonly routes: readonly SocketRoute[];
  readonly boundary: Boundary;
  readonly places: CallerPlaces;
  readonly unread: UnreadBudget | undefined;
  readonly intake: Pick<Intake, 'unproven' | 'rates'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxHeaderFields: number;
  readonly limits?: Partial<SocketLimits>;
}

/** The WebSocket side of an HTTP port: takes over upgrades and runs a route for each connection. */
export class SocketEdge {
  readonly #router: RouteTable<Entry>;
  readonly #boundary: Boundary;
  readonly #places: CallerPlaces;
  readonly #unread: UnreadBudget | undefined;
  readonly #intake: Pick<Intake, 'unproven' | 'rates'>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #maxHeaderFields: number;
  readonly #limits: SocketLimits;
  /** By message size, because the library has one limit for all connections of a server. */
  readonly #servers = new Map<number, WebSocketServer>();
  readonly #subprotocols = new WeakMap<IncomingMessage, string>();
  readonly #connections = new Map<ServedSocket, SocketRoute>();
  #watch: AbortController | undefined;
  #isDraining = false;

  constructor({ routes, boundary, places, unread, intake, clock, log, maxHeaderFields, limits }: SocketEdgeOptions) {
    this.#router = createRouter(routes.map((route) => ({ method: 'GET', path: route.path, route })));
    this.#boundary = boundary;
    this.#places = places;
    this.#unread = unread;
    this.#intake = intake;
    this.#clock = clock;
    this.#log = log;
    this.#maxHeaderFields = maxHeaderFields;
    this.#limits = { ...DEFAULT_SOCKET_LIMITS, ...limits };
  }

  /** The number of open connections. */
  get size(): number {
    return this.#connections.size;
  }

  /** Answers an upgrade with 101 and runs the route, or refuses it. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // The HTTP server has released the socket: without a listener, an error on it would be thrown.
    socket.on('error', ignore);
    const malformed = refuseForm(new HttpRequest(request), this.#maxHeaderFields);
    if (malformed !== undefined) {
      endWith(socket, malformed);
      return;
    }
    try {
      const entrance = await this.#admit(request);
      if (isFailure(entrance)) {
        endWith(socket, problemAnswer(entrance), entrance.details.retry_after);
        return;
      }
      this.#serverFor(entrance.match.entry.route).handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
        socket.off('error', ignore);
        void this.#run(entrance.match.entry.route, this.#connect({ request, socket, webSocket, entrance }));
      });
    } catch (error) {
      this.#log.error({ err: error }, 'an upgrade failed');
      endWith(socket, problemAnswer(failure('internal')));
    }
  }

  /** Gives no further messages to the routes, except those that carry answers. Routes end when their work is done. */
  drain(): void {
    this.#isDraining = true;
    for (const [connection, route] of this.#connections) if (route.carriesAnswers !== true) connection.endMessages();
  }

  /** Aborts every route, and closes every connection with 1001. */
  abort(): void {
    for (const connection of this.#connections.keys()) {
      connection.close(1001, GOING_AWAY);
      connection.abort();
    }
  }

  disconnect(isGone: (principal: Principal) => boolean): void {
    for (const connection of this.#connections.keys()) {
      if (connection.principal === undefined || !isGone(connection.principal)) continue;
      connection.close(1008, 'unauthenticated');
      connection.abort();
    }
  }

  #serverFor({ maxMessageBytes: maxPayload = this.#limits.maxMessageBytes }: SocketRoute): WebSocketServer {
    const known = this.#servers.get(maxPayload);
    if (known !== undefined) return known;
    const made = new (library().WebSocketServer)({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload,
      maxFragments: this.#limits.maxFragments,
      maxBufferedChunks: Math.max(MAX_BUFFERED_CHUNKS, maxPayload / LEAST_CHUNK),
      closeTimeout: this.#limits.closeMs,
      handleProtocols: (_offered: Set<string>, request: IncomingMessage) => this.#subprotocols.get(request) ?? false,
    } as ConstructorParameters<typeof WebSocketServer>[0]);
    this.#servers.set(maxPayload, made);
    return made;
  }

  async #admit(request: IncomingMessage): Promise<Entrance | Failure> {
    const { headers, url = '' } = request;
    const misdirected = this.#boundary.refuseSender(headers);
    if (misdirected !== undefined) return misdirected;
    const match = this.#router.find('GET', url);
    if (match === undefined) return failure('not_found');
    if (this.#isDraining) return failure('busy', {}, 'The server is stopping.');
    const { route } = match.entry;
    const offer = readOffer(headers['sec-websocket-protocol'], route.subprotocols ?? []);
    if (isFailure(offer)) return offer;
    if (offer.subprotocol !== undefined) this.#subprotocols.set(request, offer.subprotocol);
    const address = this.#boundary.address(request.socket.remoteAddress, headers);
    const principal = await this.#boundary.identify({ headers, offeredKey: offer.key, address, access: route.access });
    return isFailure(principal) ? principal : { match, address, principal };
  }

  #connect({ request, socket, webSocket, entrance }: Arrival): ServedSocket {
    const { match, address, principal } = entrance;
    const [path = ''] = (request.url ?? '').split('?');
    const connection = new ServedSocket({
      webSocket,
      socket,
      clock: this.#clock,
      limits: this.#limits,
      path,
      params: match.params,
      query: new URLSearchParams(match.query),
      headers: request.headers,
      address,
      principal,
      places: this.#places,
      unread: this.#unread?.open({ principal, address, drop: () => connection.terminate() }),
      intake: this.#intake,
    });
    this.#connections.set(connection, match.entry.route);
    if (this.#watch === undefined) void this.#keepWatch();
    webSocket.on('close', () => {
      this.#connections.delete(connection);
      if (this.#connections.size > 0) return;
      this.#watch?.abort();
      this.#watch = undefined;
    });
    return connection;
  }

  async #run(route: SocketRoute, connection: ServedSocket): Promise<void> {
    let seated: Principal | undefined;
    try {
      const { principal } = connection;
      const crowded = principal && this.#places.take(principal);
      if (crowded !== undefined) return connection.close(1013, crowded.message);
      seated = principal;
      if (this.#isDraining && route.carriesAnswers !== true) connection.endMessages();
      await route.open(connection);
      if (this.#isDraining) connection.close(1001, GOING_AWAY);
      else connection.close(1000);
    } catch (error) {
      // A send to a peer that is gone also throws, which is not an error of the route.
      if (connection.signal.aborted) return;
      this.#log.error({ err: error, route: route.path }, 'a WebSocket route failed');
      connection.close(1011, 'internal');
    } finally {
      if (seated !== undefined) this.#places.giveBack(seated);
    }
  }

  /** Checks all connections with one timer, as long as there are any. */
  async #keepWatch(): Promise<void> {
    const watch = new AbortController();
    this.#watch = watch;
    while (!watch.signal.aborted) {
      await this.#clock.wait(this.#limits.checkMs, watch.signal).catch(ignore);
      if (!watch.signal.aborted) for (const connection of this.#connections.keys()) connection.check();
    }
  }
}

interface Entry {
  readonly method: 'GET';
  readonly path: string;
  readonly route: SocketRoute;
}

interface Entrance {
  readonly match: Match<Entry>;
  readonly address: string;
  readonly principal: Principal | undefined;
}

interface Arrival {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly webSocket: WebSocket;
  readonly entrance: Entrance;
}

function ignore(): void {}

/** Loaded with the first connection, because many servers have none. */
function library(): typeof import('ws') {
  return load('ws');
}

const load = createRequire(import.meta.url);
const GOING_AWAY = 'the server is stopping';
/**
 * The most chunks of one buffered message: 8 MiB arrive in 6,000 segments of 1,400 bytes, but could arrive byte by
 * byte.
 */
const MAX_BUFFERED_CHUNKS = 65_536;
/** Larger messages may have more chunks: one for each half of a segment. */
const LEAST_CHUNK = 700;
