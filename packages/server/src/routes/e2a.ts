import {
  type Call,
  type Clock,
  type Engine,
  failureOf,
  frameText,
  type Ids,
  type Log,
  type Store,
} from '@dragoman/core';
import { type E2AEnvelope, type E2AResponse, type Failure, failure } from '@dragoman/protocols';
import { negotiate, notAcceptable } from '../edges/accept.ts';
import { ndjsonAnswer } from '../edges/ndjson-stream.ts';
import { type StreamRecord, sseAnswer } from '../edges/sse.ts';
import { afterOf, callerOf, idempotencyKeyOf } from '../inbound-fields.ts';
import { isFailure } from '../problem.ts';
import { readEnvelope, withAgent, withRequestId } from '../read-envelope.ts';
import type { Answer, InboundRequest, Route } from '../route.ts';

export interface E2AContext {
  readonly engine: Engine;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** E2A over HTTP: send an envelope, read its answer again from any frame, cancel it. */
export function e2aRoutes(context: E2AContext): Route[] {
  const body = { contentTypes: ['application/json'], maxBytes: 1 << 20 };
  return [
    {
      method: 'POST',
      path: '/e2a',
      access: 'agent',
      counts: true,
      summary: 'Send an envelope; the answer is one JSON frame, an SSE stream or NDJSON, by Accept.',
      body,
      handle: (request) => send(request, context),
    },
    {
      method: 'POST',
      path: '/e2a/agents/:agent_id',
      access: 'agent',
      counts: true,
      summary: 'Send an envelope to this agent.',
      body,
      handle: (request) => send(request, context),
    },
    {
      method: 'GET',
      path: '/e2a/requests/:request_id/responses',
      access: 'agent',
      owned: true,
      counts: false,
      summary: 'Read the answer from after a frame (?after=N or Last-Event-ID), while it is given and afterwards.',
      handle: (request) => resume(request, context),
    },
    {
      method: 'POST',
      path: '/e2a/requests/:request_id/cancel',
      access: 'agent',
      owned: true,
      counts: true,
      summary: 'End a running request; its last frame is E2A.CANCELLED.',
      handle: (request) => cancel(request, context),
    },
  ];
}

async function send(request: InboundRequest, context: E2AContext): Promise<Answer | Failure> {
  const framing = negotiate(request.headers.accept, FRAMINGS);
  if (framing === undefined) return notAcceptable(FRAMINGS);
  const principal = callerOf(request);
  const read = readEnvelope(request.body, { principal, now: context.clock.now() });
  if (isFailure(read)) return read;
  const addressed = withAgent(read, request.params['agent_id']);
  if (isFailure(addressed)) return addressed;
  const idempotencyKey = idempotencyKeyOf(request);
  if (typeof idempotencyKey === 'object') return idempotencyKey;
  const envelope = withRequestId(addressed, context.ids, idempotencyKey);
  const call: Call = {
    principal,
    signal: request.signal,
    log: context.log,
    counted: true,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
  return answer(context.engine.handle(envelope, call), { framing, envelope, context });
}

/** What refuses a request comes before its first frame, so the first frame decides between an error and a stream. */
async function answer(
  frames: AsyncIterable<E2AResponse>,
  { framing, envelope, context }: { framing: Framing; envelope: E2AEnvelope; context: E2AContext },
): Promise<Answer | Failure> {
  const iterator = frames[Symbol.asyncIterator]();
  let first: IteratorResult<E2AResponse>;
  try {
    first = await iterator.next();
  } catch (error) {
    const known = failureOf(error);
    if (known !== undefined) return known;
    throw error;
  }
  const all = prepended(first, iterator);
  const headers = { 'X-Request-Id': encodeURIComponent(envelope.request_id ?? '') };
  if (framing === 'application/json') {
    for await (const frame of all)
      if (frame.is_final) return { status: 200, headers: { ...headers, ...JSON_TYPE }, text: frameText(frame) };
    return failure('agent_failed');
  }
  // A request that is not for a stream gets its final frame alone, in the framing it asked for.
  return framed(records(all, !envelope.is_stream), framing, context, headers);
}

async function resume(
  request: InboundRequest,
  { store, engine, clock, ...context }: E2AContext,
): Promise<Answer | Failure> {
  const framing = negotiate(request.headers.accept, FRAMINGS);
  if (framing === undefined) return notAcceptable(FRAMINGS);
  const after = afterOf(request);
  if (typeof after === 'object') return after;
  const key = { owner: callerOf(request).id, requestId: request.params['request_id'] ?? '' };
  const row = await store.requests.find(key);
  if (row === undefined) return failure('not_found', {}, 'There is no such request.');
  if (framing !== 'application/json') {
    return framed(records(engine.runs.read(key, after), false), framing, { store, engine, clock, ...context }, {});
  }
  const rows = await store.requests.frames(key, { after, limit: 1000, maxBytes: 1 << 20 });
  const isFinal = rows.at(-1)?.isFinal ?? row.state === 'finished';
  return {
    status: 200,
    headers: JSON_TYPE,
    text: `{"responses":[${rows.map((row) => row.text).join(',')}],"is_final":${isFinal}}`,
  };
}

async function cancel(request: InboundRequest, { store, engine }: E2AContext): Promise<Answer | Failure> {
  const key = { owner: callerOf(request).id, requestId: request.params['request_id'] ?? '' };
  const row = await store.requests.find(key);
  if (row === undefined) return failure('not_found', {}, 'There is no such request.');
  return { status: 200, json: { request_id: key.requestId, cancelled: engine.runs.cancel(key) } };
}

function framed(
  stream: AsyncIterable<StreamRecord>,
  framing: Framing,
  { clock }: E2AContext,
  headers: Record<string, string>,
): Answer {
  const answered =
    framing === 'text/event-stream' ? sseAnswer(stream, { clock }) : ndjsonAnswer(stream, { clock, everyMs: 15_000 });
  return { ...answered, headers: { ...answered.headers, ...headers } };
}

async function* records(frames: AsyncIterable<E2AResponse>, finalOnly: boolean): AsyncGenerator<StreamRecord> {
  for await (const frame of frames) {
    if (!finalOnly || frame.is_final) yield { id: frame.sequence, data: frameText(frame) };
  }
}

async function* prepended<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    for (let item = first; item.done !== true; item = await rest.next()) yield item.value;
  } finally {
    await rest.return?.();
  }
}

const FRAMINGS = ['application/json', 'text/event-stream', 'application/x-ndjson'] as const;
type Framing = (typeof FRAMINGS)[number];
const JSON_TYPE = { 'Content-Type': 'application/json' };
