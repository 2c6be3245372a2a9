import type { IncomingHttpHeaders } from 'node:http';
import {
  type Clock,
  failureOf,
  type Ids,
  type JsonReader,
  type Log,
  type Principal,
  type UnreadAccount,
  type UnreadBudget,
} from '@dragoman/core';
import { type Failure, failure, type Json, type JsonLimits, type Outcome } from '@dragoman/protocols';
import type { Count, Counted } from '../http/count.ts';
import { isFailure, problemAnswer } from '../http/problem.ts';
import type { Answer, InboundRequest, Route, RouteBody } from '../http/route.ts';
import type { RouteTable } from '../http/router.ts';
import type { AccessedRequest } from '../metrics/request-meter.ts';
import { addressGroup } from './address.ts';
import { type AnswerDelivery, writeAnswer } from './answer.ts';
import { bodyTooLarge, firstLimit, hasBody, NO_ROOM, refuseBody } from './body.ts';
import type { Boundary } from './boundary.ts';
import type { CallerPlaces } from './caller-places.ts';
import { refuseForm } from './form.ts';
import type { HttpRequest } from './http-request.ts';
import type { HttpLimits } from './limits.ts';
import { rateFields } from './rate-fields.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { HeldBytes, UnprovenBudget } from './unproven-budget.ts';

/** What an exchange needs from its edge. */
export interface ExchangeContext {
  readonly router: RouteTable<Route>;
  readonly boundary: Boundary;
  readonly places: CallerPlaces;
  readonly unread: UnreadBudget | undefined;
  readonly count: Count | undefined;
  readonly limits: HttpLimits;
  readonly unproven: UnprovenBudget;
  readonly jsonLimits: JsonLimits | undefined;
  readonly reader: JsonReader;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Called for every request when it is over. */
  readonly observe: ((seen: AccessedRequest) => void) | undefined;
}

/**
 * One request on its way to its answer:
 *
 *   well formed → meant for us → a route → a caller → a body it takes → counted → handled → written
 *
 * The first step that refuses ends the request, and no later step runs. No body is read before the caller is known.
 */
export class Exchange implements InboundRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly response: ResponseWriter;
  route: Route | undefined;
  path: string;
  params: Readonly<Record<string, string>> = NO_PARAMS;
  body: Uint8Array = NO_BYTES;
  principal: Principal | undefined;
  address = '';

  readonly #context: ExchangeContext;
  readonly #request: HttpRequest;
  readonly #expectsContinue: boolean;
  readonly #startedAt: number;
  #query = '';
  #parsedQuery: URLSearchParams | undefined;
  #counted: Counted | undefined;
  /** The memory that is reserved for the body of a sender without a proven identity. */
  #held: HeldBytes | undefined;
  #retryAfter: number | undefined;
  #hasUnreadBody: boolean;
  #isTooLarge = false;
  #abort: AbortController | undefined;
  #aborted = false;
  #isStream = false;
  #unread: UnreadAccount | undefined;

  constructor(context: ExchangeContext, { request, response, expectsContinue, onOver }: ExchangeInput) {
    this.#context = context;
    this.#request = request;
    this.#expectsContinue = expectsContinue;
    this.#startedAt = context.clock.elapsed();
    this.#hasUnreadBody = hasBody(request.headers);
    this.response = response;
    this.method = request.method;
    this.headers = request.headers;
    this.path = request.target;
    response.whenOver((isDelivered) => {
      this.#close(isDelivered);
      onOver();
    });
  }

  /** Whether the answer is a stream. */
  get isStreaming(): boolean {
    return this.#isStream;
  }

  /** Whether the whole request has been read. */
  get isReceived(): boolean {
    return this.#request.isReceived;
  }

  get httpVersion(): string {
    return this.#request.httpVersion;
  }

  get query(): URLSearchParams {
    this.#parsedQuery ??= new URLSearchParams(this.#query);
    return this.#parsedQuery;
  }

  get baseUrl(): string {
    return this.#context.boundary.baseUrl(this.#request.peer, this.headers);
  }

  readJson(limits: JsonLimits = {}): Outcome<Json> | Promise<Outcome<Json>> {
    const { reader, jsonLimits } = this.#context;
    const caller = this.principal?.id ?? `address ${addressGroup(this.address)}`;
    return reader.read(this.body, { limits: { ...jsonLimits, ...limits }, caller });
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#aborted) this.#abort.abort();
    return this.#abort.signal;
  }

  welcome(): void {
    this.#held?.release();
  }

  /** Signals the handler to stop. */
  abort(): void {
    this.#aborted = true;
    this.#abort?.abort();
  }

  async run(): Promise<void> {
    try {
      let answer: Answer | undefined;
      try {
        answer = await this.#answer();
      } catch (error) {
        answer = this.#thrown(error);
      }
      const writing = answer === undefined || this.response.isGone ? undefined : this.#write(answer);
      if (writing !== undefined) await writing;
    } catch (error) {
      // The answer has started. It is cut off, so that it does not look complete.
      this.#context.log.error({ err: error, method: this.method, route: this.route?.path }, 'an answer broke off');
      this.response.breakOff();
    } finally {
      this.#held?.release();
      this.#counted?.release?.();
    }
  }

  /**
   * The answer, or `undefined` if the peer left before the end of its request. Awaits nothing but promises: after a
   * tick Node would buffer a body that has no listener yet.
   */
  async #answer(): Promise<Answer | undefined> {
    const { router, boundary, limits, count } = this.#context;
    const { headers } = this;
    const malformed = refuseForm(this.#request, limits.maxHeaderFields);
    if (malformed !== undefined) return malformed;
    const misdirected = boundary.refuseSender(headers);
    if (misdirected !== undefined) return this.#word(misdirected);

    if (this.method === 'OPTIONS') {
      const preflight = boundary.cors.preflight(headers, router.allowed(this.path));
      if (preflight !== undefined) return preflight;
    }
    const match = router.find(this.method, this.path);
    if (match === undefined) return this.#noRoute();
    const route = match.entry;
    this.route = route;
    this.params = match.params;
    this.#query = match.query;
    const cut = this.path.indexOf('?');
    if (cut !== -1) this.path = this.path.slice(0, cut);

    this.address = boundary.address(this.#request.peer, headers);
    const identified = boundary.identify({ headers, address: this.address, access: route.access });
    const principal = identified instanceof Promise ? await identified : identified;
    if (isFailure(principal)) return this.#word(principal);
    if (principal === undefined && route.refuseAnonymous !== undefined) return this.#word(route.refuseAnonymous);
    const crowded = principal && this.#context.places.take(principal);
    if (crowded !== undefined) return this.#word(crowded);
    this.principal = principal;

    if (this.#hasUnreadBody) {
      const body = await this.#readBody(route.body);
      if (body === undefined) return undefined;
      if (!(body instanceof Uint8Array)) return this.#word(body);
      this.#hasUnreadBody = false;
      this.body = body;
    }

    const countIt = route.count ?? count;
    if (route.counts && countIt !== undefined) {
      const counted = countIt({ principal, route, address: this.address, bytes: this.body.length });
      this.#counted = counted instanceof Promise ? await counted : counted;
      const { failure: over } = this.#counted;
      if (over !== undefined) {
        const answer = await route.overLimit?.(over, this);
        return answer === undefined || isFailure(answer) ? this.#word(answer ?? over) : answer;
      }
    }
    const handled = route.handle(this);
    const result = handled instanceof Promise ? await handled : handled;
    return isFailure(result) ? this.#word(result) : result;
  }

  async #readBody(taken: RouteBody | undefined): Promise<Uint8Array | Failure | undefined> {
    const { unproven } = this.#context;
    const unprovenBytes = this.principal === undefined ? unproven.messageBytes : undefined;
    const refused = refuseBody(this.headers, taken, unprovenBytes);
    if (refused !== undefined || taken === undefined) return refused;
    if (this.#expectsContinue) this.response.inform(100);
    if (unprovenBytes !== undefined) this.#held = unproven.hold(this.address);
    const { proof, maxBytes } = taken;
    const canRaise = unprovenBytes !== undefined && proof !== undefined;
    const body = await this.#request.readBody({
      maxBytes: firstLimit(taken, unprovenBytes),
      held: this.#held,
      raise: canRaise ? (start) => (proof.isIn(start) ? maxBytes : undefined) : undefined,
    });
    if (body === undefined || body instanceof Uint8Array) return body;
    return body === 'no_room' ? NO_ROOM : bodyTooLarge(taken, unprovenBytes);
  }

  #noRoute(): Answer {
    const allowed = this.#context.router.allowed(this.path);
    if (allowed.length === 0) return NOT_FOUND;
    // The refusal is worded by the route that exists at this path.
    this.route = this.#context.router.find(allowed[0] ?? '', this.path)?.entry;
    const suggestions = [`use ${allowed.join(' or ')}`];
    const refusal = this.#word(failure('method_not_allowed', { suggestions }));
    return { ...refusal, headers: { ...refusal.headers, Allow: allowed.join(', ') } };
  }

  #word(refusal: Failure): Answer {
    this.#retryAfter = refusal.details.retry_after;
    if (refusal.code === 'too_large') this.#isTooLarge = true;
    return this.route?.wordFailure?.(refusal, this) ?? problemAnswer(refusal);
  }

  /** Reports the failure that an error carries; any other error is internal. */
  #thrown(error: unknown): Answer {
    try {
      return this.#word(failureOf(error) ?? this.#report(error));
    } catch (wordingError) {
      return problemAnswer(this.#report(wordingError));
    }
  }

  /** The peer gets an id of this occurrence; the details are only in the log. */
  #report(error: unknown): Failure {
    const { ids, log } = this.#context;
    const instance = `urn:uuid:${ids.uuid()}`;
    log.error({ err: error, instance, method: this.method, route: this.route?.path }, 'a request failed');
    return failure('internal', { instance });
  }

  /** `undefined` when it was written at once, as most answers are. */
  #write(answer: Answer): Promise<void> | undefined {
    this.#isStream = answer.stream !== undefined;
    try {
      return writeAnswer(this.response, answer, this.#delivery());
    } catch (error) {
      if (this.response.status !== undefined) throw error;
      return writeAnswer(this.response, this.#thrown(error), this.#delivery());
    }
  }

  #delivery(): AnswerDelivery {
    const { clock, limits, boundary, unread } = this.#context;
    const cors = boundary.cors.fields(this.headers);
    // A small rest of the body is read, and the connection kept. A large rest ends the connection.
    const linger = this.#hasUnreadBody && (this.#isTooLarge || !this.#isSmallBody());
    if (linger) this.response.isLast = true;
    return {
      personal: this.principal !== undefined,
      fields:
        this.#counted === undefined ? cors : [...cors, ...rateFields(this.#counted.limits, clock.now().getTime())],
      retryAfter: this.#retryAfter,
      isHeadOnly: this.method === 'HEAD',
      ...(unread !== undefined && { unread: () => this.#accountIn(unread) }),
      beforeEnd: linger
        ? () => this.#request.discardBody({ clock, bytes: limits.lingerBytes, ms: limits.lingerMs })
        : undefined,
    };
  }

  /** Opens the account on first use, because most answers are read at once. */
  #accountIn(budget: UnreadBudget): UnreadAccount {
    const { principal, address, response } = this;
    this.#unread ??= budget.open({ principal, address, drop: () => response.destroy() });
    return this.#unread;
  }

  #isSmallBody(): boolean {
    const length = this.headers['content-length'];
    return length !== undefined && Number(length) <= this.#context.limits.lingerBytes;
  }

  #close(isDelivered: boolean): void {
    if (!isDelivered) this.abort();
    this.#unread?.close();
    if (this.principal !== undefined) this.#context.places.giveBack(this.principal);
    const { observe, clock } = this.#context;
    const { method } = this;
    const { status } = this.response;
    // Metrics get the pattern of the route, the access log the path. The query may contain a secret, so neither gets
    // it.
    const route = this.route?.path;
    const milliseconds = clock.elapsed() - this.#startedAt;
    const [path = ''] = this.path.split('?', 1);
    observe?.({ method, route, path, status, milliseconds, caller: this.principal?.id });
  }
}

export interface ExchangeInput {
  readonly request: HttpRequest;
  readonly response: ResponseWriter;
  /** The peer waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean;
  /** Called when the answer is complete, or its connection is gone. */
  readonly onOver: () => void;
}

const NO_PARAMS: Readonly<Record<string, string>> = {};
const NO_BYTES = new Uint8Array(0);
const NOT_FOUND = problemAnswer(
  failure('not_found', {
    suggestions: ['GET /openapi.json lists every path', 'GET / links to the documentation'],
  }),
);
