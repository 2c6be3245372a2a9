import {
  type AnswerFacts,
  type Clock,
  frameFrom,
  type OpenAiContext,
  type OpenAiEndpoint,
  type OpenedAnswer,
  type Reading,
} from '@dragoman/core';
import {
  type E2AResponse,
  type Failure,
  failure,
  type Json,
  type JsonObject,
  type Outcome,
  SCHEMA_BASE,
} from '@dragoman/protocols';
import {
  ChatAnswer,
  decodeChatCompletion,
  decodeCreateResponse,
  type OpenAiError,
  openAiErrorOf,
  ResponseAnswer,
} from '@dragoman/protocols/openai';
import { sseStream } from '../edges/sse.ts';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { callerOf, idempotencyKeyOf } from './inbound-fields.ts';
import { IDEMPOTENCY_KEY, integerParameter, textParameter } from './route-parameters.ts';

export interface OpenAiRouteContext {
  readonly endpoint: OpenAiEndpoint;
  readonly clock: Clock;
  readonly maxBytes: number;
}

/** OpenAI's API: chat completions and responses of agents and workflows. */
export function openAiRoutes(context: OpenAiRouteContext): Route[] {
  const { endpoint, maxBytes } = context;
  const common = { access: 'agent', wordFailure } as const;
  const answers = { 'application/json': { type: 'object' }, 'text/event-stream': { type: 'string' } } as const;
  const body = (name: string) => ({
    contentTypes: ['application/json'],
    maxBytes,
    schema: { $ref: `${SCHEMA_BASE}/openai/${name}.json` },
  });
  const asking = { ...common, counts: true, answers, parameters: [IDEMPOTENCY_KEY, SESSION] } as const;
  return [
    {
      ...common,
      method: 'GET',
      path: '/v1/models',
      counts: false,
      summary: 'List the agents and workflows that this caller may use, as OpenAI models.',
      handle: (request) => ({ status: 200, json: { object: 'list', data: endpoint.models(callerOf(request)) } }),
    },
    {
      ...common,
      method: 'GET',
      path: '/v1/models/:model',
      counts: false,
      summary: 'Read one model.',
      handle: (request) => {
        const { model } = request.params;
        const found = endpoint.models(callerOf(request)).find(({ id }) => id === model);
        return found === undefined ? failure('no_route', {}, NO_MODEL) : { status: 200, json: found };
      },
    },
    {
      ...asking,
      method: 'POST',
      path: '/v1/chat/completions',
      summary: 'Chat completions with an agent or a workflow; JSON, or SSE with `stream`.',
      body: body('chat-completion'),
      handle: (request) => complete(request, context),
    },
    {
      ...asking,
      method: 'POST',
      path: '/v1/responses',
      summary: 'Create a response with an agent or a workflow; JSON, or SSE with `stream`.',
      body: body('create-response'),
      handle: (request) => respond(request, context),
    },
    {
      ...common,
      method: 'GET',
      path: '/v1/responses/:response_id',
      owned: true,
      counts: false,
      summary: 'Read a response while it runs and afterwards; with `stream=true` after an event.',
      parameters: [
        textParameter('stream', 'Whether to read its events.', ['true', 'false']),
        integerParameter('starting_after', 'The sequence_number of the last event that was seen.'),
      ],
      answers,
      handle: (request) => readAgain(request, context),
    },
    {
      ...common,
      method: 'POST',
      path: '/v1/responses/:response_id/cancel',
      owned: true,
      counts: true,
      summary: 'Cancel a running response.',
      handle: async (request) => {
        const found = await endpoint.find(callerOf(request), request.params['response_id'] ?? '');
        if (found === undefined) return NO_RESPONSE;
        await found.request.cancel();
        const answer = new ResponseAnswer(found.facts);
        await folded(found.request.read(-1, request.signal), (frame) => answer.events(frame));
        return { status: 200, json: answer.response() };
      },
    },
  ];
}

async function complete(request: InboundRequest, { endpoint, clock }: OpenAiRouteContext): Promise<Answer | Failure> {
  const read = decoded(await request.readJson(), decodeChatCompletion);
  if ('fault' in read) return read;
  const context = contextOf(request);
  if ('fault' in context) return context;
  const { stream, stream_options: options } = read.value;
  const opened = await endpoint.complete(read.value, context);
  const answer = new ChatAnswer({ ...opened, includeUsage: options?.include_usage === true });
  if (stream === true) {
    const write = (frame: E2AResponse) => answer.chunks(frame).map(data).join('');
    const texts = written(opened.reading, write, { before: data(answer.first()), after: 'data: [DONE]\n\n' });
    return withId(sseStream(texts, { clock }), opened);
  }
  await folded(opened.reading, (frame) => answer.chunks(frame));
  return answer.end === undefined ? STOPPING : withId(wholeAnswer(answer.whole()), opened);
}

async function respond(request: InboundRequest, { endpoint, clock }: OpenAiRouteContext): Promise<Answer | Failure> {
  const read = decoded(await request.readJson(), decodeCreateResponse);
  if ('fault' in read) return read;
  const context = contextOf(request);
  if ('fault' in context) return context;
  const { stream, background, instructions } = read.value;
  const opened = await endpoint.respond(read.value, context);
  const answer = new ResponseAnswer({ ...opened, instructions: instructions ?? undefined });
  if (stream === true) return withId(responseEvents(opened.reading, answer, { after: -1, clock }), opened);
  if (background !== true) {
    await folded(opened.reading, (frame) => answer.events(frame));
    if (answer.end === undefined) return STOPPING;
  }
  return withId({ status: 200, json: answer.response() }, opened);
}

async function readAgain(request: InboundRequest, { endpoint, clock }: OpenAiRouteContext): Promise<Answer | Failure> {
  const { query, params, signal } = request;
  const after = query.get('starting_after') ?? '-1';
  if (!/^(?:-1|\d{1,15})$/.test(after)) {
    const message = `starting_after must be the sequence_number of an event; got ${JSON.stringify(after)}`;
    return failure('invalid_message', { issues: [{ pointer: '/starting_after', code: 'type', message }] }, message);
  }
  const found = await endpoint.find(callerOf(request), params['response_id'] ?? '');
  if (found === undefined) return NO_RESPONSE;
  const answer = new ResponseAnswer(found.facts);
  if (query.get('stream') === 'true') {
    return responseEvents(found.request.read(-1, signal), answer, { after: Number(after), clock });
  }
  for (let last = -1; ; ) {
    const rows = await found.request.page({ after: last, limit: 1000, maxBytes: 1 << 20 });
    for (const { text } of rows) answer.events(frameFrom(text));
    const newest = rows.at(-1);
    if (newest === undefined || newest.isFinal) return { status: 200, json: answer.response() };
    last = newest.sequence;
  }
}

/** The events after `after`. Earlier frames are read, too, because the answer is folded from all of them. */
function responseEvents(
  reading: Reading,
  answer: ResponseAnswer,
  { after, clock }: { readonly after: number; readonly clock: Clock },
): Answer {
  const write = (events: readonly JsonObject[]) =>
    events
      .filter(({ sequence_number: number }) => Number(number) > after)
      .map((event) => `event: ${String(event['type'])}\n${data(event)}`)
      .join('');
  const texts = written(reading, (frame) => write(answer.events(frame)), { before: write(answer.first()), after: '' });
  return sseStream(texts, { clock });
}

/** The frames that are ready, as one piece of text, because each write to the socket has a cost. */
async function* written(
  reading: Reading,
  write: (frame: E2AResponse) => string,
  { before, after }: { readonly before: string; readonly after: string },
): AsyncGenerator<string, void, undefined> {
  if (before !== '') yield before;
  for (let rows = await reading.next(); rows.length > 0; rows = await reading.next()) {
    const text = rows.map((row) => write(reading.frameOf(row))).join('');
    const isLast = rows.at(-1)?.isFinal === true;
    yield isLast ? `${text}${after}` : text;
  }
}

async function folded(reading: Reading, apply: (frame: E2AResponse) => unknown): Promise<void> {
  for (let rows = await reading.next(); rows.length > 0; rows = await reading.next()) {
    for (const row of rows) apply(reading.frameOf(row));
  }
}

function data(event: JsonObject): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function decoded<T>(json: Outcome<Json>, decode: (json: Json) => Outcome<T>): { readonly value: T } | Failure {
  if (!json.ok) return failure('not_json', { issues: json.issues });
  const read = decode(json.value);
  return read.ok ? { value: read.value } : failure('invalid_message', { issues: read.issues });
}

function contextOf(request: InboundRequest): OpenAiContext | Failure {
  const idempotencyKey = idempotencyKeyOf(request);
  if (typeof idempotencyKey === 'object') return idempotencyKey;
  const session = request.headers['x-session-id'];
  return {
    principal: callerOf(request),
    received: { dialect: 'openai', text: request.body },
    idempotencyKey,
    sessionId: typeof session === 'string' ? session : undefined,
    signal: request.signal,
  };
}

function withId(answer: Answer, { id }: AnswerFacts | OpenedAnswer): Answer {
  return { ...answer, headers: { ...answer.headers, 'X-Request-Id': encodeURIComponent(id) } };
}

function wholeAnswer(whole: JsonObject | OpenAiError): Answer {
  return isError(whole) ? errorAnswer(whole) : { status: 200, json: whole };
}

function isError(whole: JsonObject | OpenAiError): whole is OpenAiError {
  return 'error' in whole && 'status' in whole;
}

function wordFailure(known: Failure): Answer {
  return errorAnswer(openAiErrorOf(known));
}

function errorAnswer({ status, error }: OpenAiError): Answer {
  return { status, json: { error } };
}

const SESSION = {
  in: 'header',
  name: 'X-Session-Id',
  description: 'The conversation that the server keeps. Or metadata.session_id.',
  schema: { type: 'string', maxLength: 512 },
} as const;
const NO_MODEL = 'Unknown model, or not permitted for this key.';
const NO_RESPONSE = failure('not_found', {}, 'Response not found.');
const STOPPING = failure('busy', { retry_after: 5 }, 'The server is stopping.');
