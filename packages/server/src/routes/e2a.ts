import {
  type Beside,
  type Call,
  type Clock,
  type Engine,
  type FrameRow,
  failureOf,
  type Ids,
  type JsonReader,
  type Log,
  type Principal,
  type Reading,
  type Received,
  type Store,
} from '@dragoman/core';
import { type E2AEnvelope, type Failure, failure, type Json, type Outcome, SCHEMA_BASE } from '@dragoman/protocols';
import type { EndpointLimits } from '../config/endpoint-limits.ts';
import { negotiateType, notAcceptable } from '../edges/accept.ts';
import { ndjsonRecord, ndjsonStream } from '../edges/ndjson-stream.ts';
import { sseRecord, sseStream } from '../edges/sse.ts';
import { isFailure } from '../http/problem.ts';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { afterOf, callerOf, idempotencyKeyOf } from './inbound-fields.ts';
import { readEnvelope, withAgent, withRequestId } from './read-envelope.ts';
import { AFTER, IDEMPOTENCY_KEY } from './route-parameters.ts';

export interface E2AContext {
  readonly engine: Engine;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly limits: EndpointLimits;
  readonly reader: JsonReader;
}

/** E2A over HTTP: send an envelope, read its answer again from any frame, cancel it. */
export function e2aRoutes(context: E2AContext): Route[] {
  const envelope = { $ref: `${SCHEMA_BASE}/e2a/envelope.json` };
  const frame = { $ref: `${SCHEMA_BASE}/e2a/response.json` };
  const body = {
    contentTypes: ['application/json'],
    maxBytes: context.limits.body_bytes,
    schema: envelope,
  };
  const streams = { 'text/event-stream': { type: 'string' }, 'application/x-ndjson': { type: 'string' } };
  const operation = { body, parameters: [IDEMPOTENCY_KEY], answers: { 'application/json': frame, ...streams } };
  return [
    {
      method: 'POST',
      path: '/e2a',
      access: 'agent',
      counts: true,
      summary: 'Send an envelope. The answer is a JSON frame, SSE or NDJSON, by Accept.',
      ...operation,
      handle: (request) => send(request, context),
    },
    {
      method: 'POST',
      path: '/e2a/agents/:agent_id',
      access: 'agent',
      counts: true,
      summary: 'Send an envelope to this agent.',
      ...operation,
      handle: (request) => send(request, context),
    },
    {
      method: 'GET',
      path: '/e2a/requests/:request_id/responses',
      access: 'agent',
      owned: true,
      counts: false,
      summary:
        'Read the answer to a request of any protocol after a frame (?after=N or Last-Event-ID), while it runs and afterwards.',
      parameters: AFTER,
      answers: { 'application/json': FRAMES_SO_FAR, ...streams },
      handle: (request) => resume(request, context),
    },
    {
      method: 'POST',
      path: '/e2a/requests/:request_id/cancel',
      access: 'agent',
      owned: true,
      counts: true,
      summary: 'Cancel a running request; its last frame is E2A.CANCELLED.',
      handle: (request) => cancel(request, context),
    },
  ];
}

function send(request: InboundRequest, context: E2AContext): Answer | Failure | Promise<Answer | Failure> {
  const framing = negotiateType(request.headers.accept, FRAMINGS);
  if (framing === undefined) return notAcceptable(FRAMINGS);
  const json = request.readJson();
  if (json instanceof Promise) return json.then((read) => sendRead(read, request, { framing, context }));
  return sendRead(json, request, { framing, context });
}

function sendRead(
  json: Outcome<Json>,
  request: InboundRequest,
  { framing, context }: { readonly framing: Framing; readonly context: E2AContext },
): Answer | Failure | Promise<Answer | Failure> {
  const principal = callerOf(request);
  const read = readEnvelope(json, { principal, now: context.clock.now() });
  if (isFailure(read)) return read;
  const addressed = withAgent(read.envelope, request.params['agent_id']);
  if (isFailure(addressed)) return addressed;
  const idempotencyKey = idempotencyKeyOf(request);
  if (typeof idempotencyKey === 'object') return idempotencyKey;
  const envelope = withRequestId(addressed, context.ids, idempotencyKey);
  const call = new HttpCall(request, { principal, log: context.log, idempotencyKey, json: read.json });
  return answer(context.engine.handle(envelope, call), { framing, envelope, call, context });
}

/** The call of an HTTP request. Its signal is created on first use, because most work does not depend on its reader. */
class HttpCall implements Call, Beside {
  readonly principal: Principal;
  readonly log: Log;
  readonly counted = true;
  readonly idempotencyKey?: string;
  readonly #request: InboundRequest;
  readonly #json: Json;
  #isAccepted = false;
  #callback: (() => void) | undefined;

  constructor(request: InboundRequest, { principal, log, idempotencyKey, json }: HttpCallOptions) {
    this.#request = request;
    this.#json = json;
    this.principal = principal;
    this.log = log;
    if (idempotencyKey !== undefined) this.idempotencyKey = idempotencyKey;
  }

  get beside(): Beside {
    return this;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  readonly onAccepted = (): void => {
    this.#isAccepted = true;
    this.#callback?.();
  };

  /** Calls back as soon as the request is recorded; nothing refuses it from then on. */
  whenAccepted(callback: () => void): void {
    if (this.#isAccepted) callback();
    else this.#callback = callback;
  }

  get received(): Received {
    return { dialect: 'e2a', text: this.#request.body, json: this.#json };
  }
}

interface HttpCallOptions {
  readonly principal: Principal;
  readonly log: Log;
  readonly idempotencyKey: string | undefined;
  readonly json: Json;
}

/** A request is refused before its first frame, so the first frame decides between an error and a stream. */
async function answer(
  reading: Reading,
  { framing, envelope, call, context }: Opened & { readonly framing: Framing },
): Promise<Answer | Failure> {
  const requestId = encodeURIComponent(envelope.request_id ?? '');
  try {
    if (framing !== 'application/json') {
      await readyOrAccepted(reading.ready(), call, context.clock);
      const stream = texts(reading, framing);
      return framed(stream, framing, context, { 'X-Request-Id': requestId });
    }
    const final = await reading.final();
    if (final === undefined) return failure('agent_failed');
    return { status: 200, headers: { 'X-Request-Id': requestId, ...JSON_TYPE }, text: final.text };
  } catch (error) {
    const known = failureOf(error);
    if (known !== undefined) return known;
    throw error;
  }
}

interface Opened {
  readonly envelope: E2AEnvelope;
  readonly call: HttpCall;
  readonly context: E2AContext;
}

/**
 * Resolves when the first frames are there. If they take longer than `LONGEST_SILENCE_MS`, it resolves once the request
 * is recorded: a stream must begin, because proxies give up on an answer that does not.
 */
function readyOrAccepted(first: Promise<unknown>, call: HttpCall, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(LONGEST_SILENCE_MS, () => call.whenAccepted(resolve));
    first.then(() => resolve(), reject).finally(cancel);
  });
}

async function resume(request: InboundRequest, context: E2AContext): Promise<Answer | Failure> {
  const framing = negotiateType(request.headers.accept, FRAMINGS);
  if (framing === undefined) return notAcceptable(FRAMINGS);
  const after = afterOf(request);
  if (typeof after === 'object') return after;
  const key = { owner: callerOf(request).id, requestId: request.params['request_id'] ?? '' };
  const found = await context.engine.runs.find(key);
  if (found === undefined) return failure('not_found', {}, 'Request not found.');
  if (framing !== 'application/json') {
    return framed(texts(found.read(after, request.signal), framing), framing, context, {});
  }
  const rows = await found.page({ after, limit: 1000, maxBytes: 1 << 20 });
  const isFinal = rows.at(-1)?.isFinal ?? found.isFinished;
  return {
    status: 200,
    headers: JSON_TYPE,
    text: `{"responses":[${rows.map((row) => row.text).join(',')}],"is_final":${isFinal}}`,
  };
}

async function cancel(request: InboundRequest, { engine }: E2AContext): Promise<Answer | Failure> {
  const key = { owner: callerOf(request).id, requestId: request.params['request_id'] ?? '' };
  const found = await engine.runs.find(key);
  if (found === undefined) return failure('not_found', {}, 'Request not found.');
  return { status: 200, json: { request_id: key.requestId, cancelled: await found.cancel() } };
}

function framed(
  stream: AsyncIterable<string>,
  framing: Streamed,
  { clock }: E2AContext,
  headers: Record<string, string>,
): Answer {
  const answered =
    framing === 'text/event-stream' ? sseStream(stream, { clock }) : ndjsonStream(stream, { clock, everyMs: 15_000 });
  return { ...answered, headers: { ...answered.headers, ...headers } };
}

/**
 * The frames that are ready, as one piece of text, because each write to the socket has a cost. Not a generator, which
 * would keep the last piece alive while its peer has yet to read it.
 */
function texts(reading: Reading, framing: Streamed) {
  const write =
    framing === 'text/event-stream'
      ? ({ sequence, text }: FrameRow) => sseRecord({ id: sequence, data: text })
      : ({ text }: FrameRow) => ndjsonRecord(text);
  const next = async (): Promise<IteratorResult<string>> => {
    const rows = await reading.next();
    return rows.length === 0 ? { done: true, value: undefined } : { done: false, value: rows.map(write).join('') };
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** The frames of an answer so far, as JSON. */
const FRAMES_SO_FAR = {
  type: 'object',
  required: ['responses', 'is_final'],
  properties: {
    responses: { type: 'array', items: { type: 'object', description: 'An E2A response.' } },
    is_final: { type: 'boolean', description: 'Whether the answer ends with them.' },
  },
} as const;

const FRAMINGS = ['application/json', 'text/event-stream', 'application/x-ndjson'] as const;
type Framing = (typeof FRAMINGS)[number];
type Streamed = Exclude<Framing, 'application/json'>;
/** Shorter than the timeouts of proxies and the heartbeat interval of a stream. */
const LONGEST_SILENCE_MS = 10_000;
const JSON_TYPE = { 'Content-Type': 'application/json' };
