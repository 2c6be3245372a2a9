import { type Failure, failure, retryAfterMs } from '@dragoman/protocols';
import type { ApiCatalogue } from '../apis/api.ts';
import { apiAround } from '../apis/api-around.ts';
import type { Principal } from '../call/principal.ts';
import { abortSignalOf, type StopSignal } from '../ending/ending.ts';
import type { Gate } from '../gate/gate.ts';
import { headerOf } from '../gate/header-of.ts';
import { hostPortOf, nameOfHostPort } from '../gate/host-port.ts';
import { credentialsIn } from '../gate/injection.ts';
import { KnownUrls } from '../gate/known-urls.ts';
import { wholeBody } from '../gate/whole-body.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { failureOf, Refused } from '../refusals/refused.ts';
import type { ApiAnswer, ApiRequest } from '../workflow/effects.ts';
import type { Label } from '../workflow/label.ts';
import { advised } from './advice.ts';
import type { AnswerCache } from './answer-cache.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { refuseFlow } from './data-flow.ts';
import { refuseDestination } from './destination.ts';
import {
  delayBefore,
  hadLeft,
  hasIdempotencyKey,
  isIdempotent,
  isRefusedForNow,
  isTransient,
  MOST_RETRIES,
} from './retry.ts';
import { sentUrl } from './sent-url.ts';

export interface ApiCallsOptions {
  readonly gate: Gate;
  readonly apis: ApiCatalogue;
  /** The hosts a credential is bound to, as operators write them. */
  readonly hostsOf: (credentialId: string) => readonly string[];
  readonly limiter: Limiter;
  readonly cache: AnswerCache;
  readonly breaker: CircuitBreaker;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The largest answer after decompression. */
  readonly maxAnswerBytes: number;
}

/** The principal of a call, and its time limit. */
export interface CallContext {
  readonly principal: Principal;
  readonly signal: StopSignal;
  /** In the clock's elapsed milliseconds. */
  readonly deadline: number;
}

/**
 * Calls APIs for workflows: checks the destination and the data flow, looks into the cache, counts the call, sends it,
 * and repeats it where a repeat is safe (A2E, Retry Logic). Resolves with any status; rejects with `Refused` when there
 * is no answer.
 */
export class ApiCalls {
  readonly #options: ApiCallsOptions;
  readonly #urls = new KnownUrls();

  constructor(options: ApiCallsOptions) {
    this.#options = options;
  }

  async call(request: ApiRequest, context: CallContext): Promise<ApiAnswer> {
    const { apis, cache, limiter } = this.#options;
    const { principal } = context;
    const target = this.#urls.read(request.url);
    const refused = refuseDestination(target, principal.permissions, apis, request) ?? refuseFlow(request, apis);
    if (refused !== undefined) throw new Refused(refused);
    const known = cache.find(principal.id, request);
    if (known !== undefined) return known;
    await limiter.leaseApiCall(principal);
    limiter.apiCall(principal);
    if (request.method === 'GET') return this.#try(request, context);
    cache.forgetOrigin(principal.id, request.url);
    try {
      return await this.#try(request, context);
    } finally {
      // Values read in the meantime may be outdated, even if the call failed: it may have taken effect.
      cache.forgetOrigin(principal.id, request.url);
    }
  }

  /** The labels of the answer to a request; `undefined` when the request uses no credential. */
  labelsOf({ url, query, headers, body }: ApiRequest): readonly Label[] | undefined {
    const uses = credentialsIn({ query, headers, body });
    if (uses.length === 0) return undefined;
    const ids = new Set(uses.map(({ id }) => id));
    const from = nameOfHostPort(hostPortOf(new URL(url)));
    const bound = [...ids].map((id) => new Set(this.#options.hostsOf(id)));
    const [first = new Set<string>()] = bound;
    const shared = [...first].filter((host) => bound.every((hosts) => hosts.has(host)));
    return [{ from, to: [...new Set([from, ...shared])] }];
  }

  async #try(request: ApiRequest, context: CallContext): Promise<ApiAnswer> {
    const { clock, ids } = this.#options;
    const repeatable = isIdempotent(request);
    for (let failures = 1; ; failures++) {
      const tried = await this.#attempt(request, context);
      const mayAskAgain = tried.ok && (repeatable || isRefusedForNow(tried.answer.status));
      if (tried.ok && (!isTransient(tried.answer.status) || !mayAskAgain))
        return withSentUrl(tried.answer, request, failures);
      const mayRepeat = tried.ok || tried.failure.retryable;
      const isSafe = repeatable || mayAskAgain || (!tried.ok && !hadLeft(tried.failure));
      const random = Number.parseInt(ids.hex().slice(0, 8), 16) / 2 ** 32;
      const delay = delayBefore(failures, { random, retryAfterMs: tried.retryAfterMs });
      const isInTime = clock.elapsed() + delay < context.deadline;
      if (failures > MOST_RETRIES || !mayRepeat || !isSafe || !isInTime) {
        const retryAfter = isInTime || tried.retryAfterMs === 0 ? undefined : Math.ceil(tried.retryAfterMs / 1000);
        if (tried.ok) return withSentUrl(tried.answer, request, failures, retryAfter);
        const ended = advised(repeatable ? tried.failure : withOutcome(tried.failure, request));
        throw new Refused(withDetails(ended, { url: sentUrl(request), attempts: failures }));
      }
      await clock.wait(delay, abortSignalOf(context.signal));
    }
  }

  async #attempt(request: ApiRequest, { principal, signal, deadline }: CallContext): Promise<Attempt> {
    const { gate, apis, breaker, cache, clock, maxAnswerBytes } = this.#options;
    const target = this.#urls.read(request.url);
    const origin = target?.origin ?? '';
    // One circuit per caller and origin: the failures of one caller must not stop the calls of another.
    const circuit = `${principal.id} ${origin}`;
    const openMs = breaker.admit(circuit);
    if (openMs > 0) return { ok: false, failure: circuitOpen(origin, openMs), retryAfterMs: openMs };
    try {
      const { method, url, query, headers, body, idempotencyKey, operationId } = request;
      const start = cache.startCall(principal.id, request);
      const labels = this.labelsOf(request);
      const keyed =
        idempotencyKey === undefined || hasIdempotencyKey(headers)
          ? headers
          : { ...headers, 'Idempotency-Key': idempotencyKey };
      const inbound = await gate.request({
        caller: principal.id,
        method,
        url,
        // The operator's allow list applies only to registered APIs: any other URL was chosen by the caller.
        allowList: target !== undefined && apiAround(target, apis) !== undefined ? 'allow' : 'none',
        query,
        headers: keyed,
        body,
        timeoutMs: timeFor(request, deadline - clock.elapsed()),
        maxBytes: maxAnswerBytes,
        signal,
        purpose: operationId,
      });
      const bytes = await wholeBody(inbound);
      const { status } = inbound;
      if (status >= 500) breaker.failed(circuit);
      else breaker.succeeded(circuit);
      const contentType = headerOf(inbound, 'content-type') ?? null;
      const answer = { status, contentType, bytes, ...(labels !== undefined && { labels }) };
      return {
        ok: true,
        answer: cache.keep(principal.id, request, answer, { cacheControl: headerOf(inbound, 'cache-control'), start }),
        retryAfterMs: status < 300 ? 0 : (retryAfterMs(headerOf(inbound, 'retry-after'), clock.now()) ?? 0),
      };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const known = failureOf(error);
      if (known === undefined) throw error;
      if (known.retryable) breaker.failed(circuit);
      return { ok: false, failure: known, retryAfterMs: 0 };
    }
  }
}

type Attempt =
  | { readonly ok: true; readonly answer: ApiAnswer; readonly retryAfterMs: number }
  | { readonly ok: false; readonly failure: Failure; readonly retryAfterMs: number };

/**
 * Milliseconds for one attempt. It may exceed the execution's time by a second, so that the execution ends first and
 * reports its timeout: if the call failed first, the execution would fail, or even continue, instead of timing out.
 */
function timeFor({ timeoutMs }: ApiRequest, left: number): number {
  return timeoutMs < left ? timeoutMs : Math.max(0, left) + AFTER_THE_END_MS;
}

/** Adds the URL and the number of attempts to an answer that is not a success. */
function withSentUrl(answer: ApiAnswer, request: ApiRequest, attempts: number, retryAfter?: number): ApiAnswer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  const url = sentUrl(request);
  return { ...answer, sent: { url, attempts, ...(retryAfter !== undefined && { retry_after: retryAfter }) } };
}

function withDetails(known: Failure, details: Failure['details']): Failure {
  return { ...known, details: { ...known.details, ...details } };
}

/** A request that was sent but not answered may have taken effect: the failure becomes one of unknown outcome. */
function withOutcome(known: Failure, request: ApiRequest): Failure {
  if (!hadLeft(known) || !known.retryable) return known;
  const unknown = outcomeUnknown(request, known.message);
  return known.code === 'timeout' ? { ...unknown, code: 'timeout' } : unknown;
}

/** The failure of a call that may have taken effect and must not be repeated. */
export function outcomeUnknown({ method, url }: Pick<ApiRequest, 'method' | 'url'>, why: string): Failure {
  return {
    ...failure(
      'interrupted',
      {
        outcome: 'unknown',
        suggestions: [
          'check in the API whether the request took effect',
          'give the ApiCall an idempotencyKey if the API supports one: then it is retried automatically',
        ],
      },
      `The outcome of ${method} ${new URL(url).origin} is unknown, and the request was not sent again. ${why}`,
    ),
    retryable: false,
  };
}

function circuitOpen(origin: string, waitMs: number): Failure {
  const seconds = Math.ceil(waitMs / 1000);
  return failure(
    'agent_failed',
    { circuit: 'open', retry_after: seconds, sent: false, suggestions: [`wait ${seconds} s before the next call`] },
    `${origin} failed several times in a row. The next call is allowed in ${seconds} s.`,
  );
}

const AFTER_THE_END_MS = 1000;
