import { type Engine, failureOf, type OpenQuestion } from '@dragoman/core';
import {
  decodeGivenAnswer,
  type Failure,
  failure,
  type JsonObject,
  type QuestionAnswer,
  SCHEMA_BASE,
} from '@dragoman/protocols';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';
import { textParameter } from './route-parameters.ts';

export interface QuestionsContext {
  readonly engine: Pick<Engine, 'questions' | 'runs'>;
}

/** The questions that running requests have put to people. */
export function questionRoutes(context: QuestionsContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/e2a/questions',
      access: 'agent',
      counts: false,
      summary: 'List the questions of your requests; with the operation questions.answer, of all requests.',
      ...LISTED,
      handle: (request) => list(request, context),
    },
    {
      method: 'POST',
      path: '/e2a/requests/:request_id/questions/:question_id',
      access: 'agent',
      owned: true,
      counts: true,
      summary: 'Answer a question of a running request. The first answer counts.',
      ...ANSWERED,
      handle: (request) => answer(request, context),
    },
  ];
}

/** The questions of all callers, for operators. */
export function adminQuestionRoutes(context: QuestionsContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/v1/questions',
      access: 'admin',
      counts: false,
      summary: 'List the questions of all requests.',
      ...LISTED,
      handle: (request) => list(request, context),
    },
    {
      method: 'POST',
      path: '/admin/v1/questions/:question_id',
      access: 'admin',
      counts: false,
      summary: 'Answer a question of a running request. The first answer counts.',
      ...ANSWERED,
      handle: (request) => answer(request, context),
    },
  ];
}

async function list(request: InboundRequest, { engine }: QuestionsContext): Promise<Answer | Failure> {
  const state = request.query.get('state') ?? 'open';
  if (state !== 'open' && state !== 'ended') {
    const message = `state must be open or ended; got ${JSON.stringify(state.slice(0, 40))}`;
    return failure('invalid_message', { issues: [{ pointer: '/state', code: 'enum', message }] }, message);
  }
  const caller = callerOf(request);
  const questions =
    state === 'open'
      ? (await engine.questions.anywhereFor(caller)).map((one) => questionJson(one, { state }))
      : (await engine.questions.anywhereEndedFor(caller)).map((one) => questionJson(one, one.end));
  return { status: 200, headers: { 'Cache-Control': 'no-store' }, json: { questions } };
}

function questionJson(
  { owner, requestId, agentId, sessionId, question }: OpenQuestion,
  { state, answer }: { readonly state: string; readonly answer?: QuestionAnswer },
): JsonObject {
  return {
    request_id: requestId,
    caller_id: owner,
    agent_id: agentId,
    session_id: sessionId,
    state,
    ...(answer !== undefined && { answer: answer as unknown as JsonObject }),
    ...(question as unknown as JsonObject),
  };
}

async function answer(request: InboundRequest, { engine }: QuestionsContext): Promise<Answer | Failure> {
  const json = await request.readJson();
  const given = json.ok ? decodeGivenAnswer(json.value) : json;
  if (!given.ok) {
    return failure(
      'invalid_message',
      { issues: given.issues },
      `The answer is not valid: ${given.issues[0]?.message}.`,
    );
  }
  const principal = callerOf(request);
  const { request_id: requestId, question_id: questionId = '' } = request.params;
  try {
    const answerer = { principal, channel: principal.kind === 'admin' ? 'admin' : 'e2a' };
    const taken = await engine.questions.answer({ questionId, requestId }, given.value, answerer);
    return { status: 200, json: { question_id: questionId, answer: taken as unknown as JsonObject } };
  } catch (error) {
    const known = failureOf(error);
    if (known === undefined) throw error;
    if (known.code !== 'not_found' || requestId === undefined) return known;
    // A question is removed with its request. Its caller must learn that the answer came too late.
    const run = await engine.runs.find({ owner: principal.id, requestId });
    if (run?.isFinished === true) return OVER;
    const state = await run?.questionState?.(questionId);
    return state === undefined ? known : NOT_OPEN[state];
  }
}

const OVER = failure('conflict', {}, 'The request has ended, and its questions with it.');
/** For a question of an execution that is open in no process. */
const NOT_OPEN = {
  open: failure('busy', { retry_after: 1 }, 'The question is being taken over from a node that is gone. Try again.'),
  ended: failure('conflict', {}, 'The question has ended already.'),
};
const LISTED = {
  parameters: [
    textParameter(
      'state',
      'The open ones, oldest first, or the last 200 that have ended since the server started, newest first. Default: open.',
      ['open', 'ended'],
    ),
  ],
  answers: {
    'application/json': {
      type: 'object',
      required: ['questions'],
      properties: {
        questions: {
          type: 'array',
          items: {
            allOf: [{ $ref: `${SCHEMA_BASE}/e2a/question.json` }],
            description:
              'With request_id, caller_id, agent_id, session_id, state (open, answered, expired or withdrawn) and, if it has one, answer.',
          },
        },
      },
    },
  },
} as const;
const ANSWERED = {
  body: {
    contentTypes: ['application/json'],
    maxBytes: 64 * 1024,
    schema: { $ref: `${SCHEMA_BASE}/e2a/given-answer.json` },
  },
  answers: {
    'application/json': {
      type: 'object',
      required: ['question_id', 'answer'],
      properties: {
        question_id: { type: 'string' },
        answer: { $ref: `${SCHEMA_BASE}/e2a/question-answer.json` },
      },
    },
  },
} as const;
