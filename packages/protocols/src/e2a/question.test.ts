import { describe, expect, test } from 'vitest';
import { acpMessagesFor } from './adapters/acp-projection.ts';
import { acpResultFor, answerFromAcpResponse, questionBody, questionFromAcpRequest } from './adapters/acp-question.ts';
import { newEnvelope } from './envelope.ts';
import type { Question, QuestionAnswer } from './question.ts';
import { answerFromText, questionText } from './question-text.ts';
import { decodeNewQuestion, questionIn } from './read-question.ts';
import { newResponse } from './response.ts';

const times = { asked_at: '2026-03-28T12:00:00.000Z', expires_at: '2026-03-28T12:10:00.000Z' };
const PERMISSION: Question = {
  question_id: 'q_1',
  kind: 'permission',
  title: 'Run make?',
  subject: { type: 'command', command: 'make', cwd: '/work' },
  options: [
    { id: 'yes', name: 'Allow', kind: 'allow_once' },
    { id: 'no', name: 'Reject', kind: 'reject_once' },
  ],
  ...times,
};
const CHOICE: Question = {
  question_id: 'q_2',
  kind: 'choice',
  title: 'Which colour?',
  options: [
    { id: 'r', name: 'Red', kind: 'choice' },
    { id: 'g', name: 'Green', kind: 'choice' },
  ],
  ...times,
};
const FORM: Question = {
  question_id: 'q_3',
  kind: 'form',
  title: 'How old?',
  schema: { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] },
  ...times,
};
const URL_QUESTION: Question = {
  question_id: 'q_4',
  kind: 'url',
  title: 'Sign in',
  url: 'https://a.example/',
  ...times,
};
const given = { by: 'ada', channel: 'e2a', at: times.asked_at } as const;

describe('the body of a question frame', () => {
  test.each([PERMISSION, CHOICE, FORM, URL_QUESTION])('holds the whole question: $kind', (question) => {
    const frame = newResponse({ response_kind: 'acp.output_request', body: questionBody(question, 's1') });
    expect(questionIn(frame)).toEqual(question);
    expect(frame.body).toMatchObject({ id: question.question_id, params: { session_id: 's1' } });
  });

  test('a permission is a permission request about a tool call; as ACP spells it, without our own member', () => {
    const body = questionBody(PERMISSION, 's1');
    const frame = newResponse({ response_kind: 'acp.output_request', body });
    expect(acpMessagesFor(frame, newEnvelope({ session_id: 's1' }))).toEqual([
      {
        jsonrpc: '2.0',
        id: 'q_1',
        method: 'session/request_permission',
        params: {
          sessionId: 's1',
          toolCall: {
            toolCallId: 'q_1',
            title: 'Run make?',
            kind: 'execute',
            status: 'pending',
            content: [{ type: 'content', content: { type: 'text', text: 'make' } }],
          },
          options: [
            { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
            { optionId: 'no', name: 'Reject', kind: 'reject_once' },
          ],
        },
      },
    ]);
  });

  test('a choice is a form with one field, a URL is a visit', () => {
    expect(questionBody(CHOICE, null)).toMatchObject({
      method: 'elicitation/create',
      params: {
        mode: 'form',
        requested_schema: { properties: { choice: { oneOf: [{ const: 'r', title: 'Red' }, {}] } } },
      },
    });
    expect(questionBody(URL_QUESTION, null)).toMatchObject({
      params: { mode: 'url', url: 'https://a.example/', elicitation_id: 'q_4' },
    });
  });

  test('a frame that asks nothing of a person holds no question', () => {
    const body = { id: 1, method: 'fs/read_text_file', params: {} };
    expect(questionIn(newResponse({ response_kind: 'acp.output_request', body }))).toBeUndefined();
  });
});

describe('a request of an ACP agent', () => {
  test('for permission keeps every option by its id, two of a kind as well', () => {
    const question = questionFromAcpRequest('session/request_permission', {
      sessionId: 's',
      toolCall: {
        toolCallId: 't1',
        title: 'rm -r build',
        kind: 'execute',
        rawInput: { toolCallId: 'mine' },
        content: [{ type: 'content', content: { type: 'text', text: 'removes it' } }],
      },
      options: [
        { optionId: 'a', name: 'Once', kind: 'allow_once' },
        { optionId: 'b', name: 'Once more', kind: 'allow_once' },
        { optionId: 'c', name: '', kind: 'something_new' },
      ],
    });
    expect(question).toEqual({
      kind: 'permission',
      title: 'rm -r build',
      description: 'removes it',
      subject: {
        type: 'tool_call',
        tool_call_id: 't1',
        name: 'rm -r build',
        tool_kind: 'execute',
        input: { toolCallId: 'mine' },
      },
      options: [
        { id: 'a', name: 'Once', kind: 'allow_once' },
        { id: 'b', name: 'Once more', kind: 'allow_once' },
        { id: 'c', name: 'c', kind: 'choice' },
      ],
    });
    expect(decodeNewQuestion(question as never).ok).toBe(true);
  });

  test('for input is a form or a URL; anything else is not a question', () => {
    expect(
      questionFromAcpRequest('elicitation/create', {
        message: 'Name?',
        mode: 'form',
        requestedSchema: {
          type: 'object',
          properties: { n: { type: 'string' }, list: { type: 'array' }, map: { type: 'object' } },
        },
      }),
    ).toMatchObject({
      kind: 'form',
      schema: { properties: { n: { type: 'string' }, list: { type: 'array' }, map: { type: 'string' } } },
    });
    expect(questionFromAcpRequest('elicitation/create', { message: 'Go', url: 'https://a.example/' })).toMatchObject({
      kind: 'url',
      url: 'https://a.example/',
    });
    expect(questionFromAcpRequest('fs/read_text_file', {})).toBeUndefined();
  });

  test('without a title or options is still a question with words', () => {
    expect(questionFromAcpRequest('session/request_permission', {})).toMatchObject({
      title: 'The agent asks for permission.',
      options: [],
    });
  });
});

describe('answers as ACP writes them', () => {
  test.each([
    [{ outcome: { outcome: 'selected', optionId: 'yes' } }, { option_id: 'yes' }],
    [{ outcome: { outcome: 'selected', option_id: 'yes' } }, { option_id: 'yes' }],
    [{ outcome: { outcome: 'cancelled' } }, { action: 'cancel' }],
    [
      { action: 'accept', content: { sessionId: 'mine' } },
      { action: 'accept', content: { sessionId: 'mine' } },
    ],
    [{ action: 'decline' }, { action: 'decline' }],
    [{ result: { action: 'cancel' } }, { action: 'cancel' }],
    [{ error: { code: -32601, message: 'no' } }, { action: 'decline' }],
    [null, { action: 'decline' }],
  ])('%j is %j', (response, answer) => {
    expect(answerFromAcpResponse(response as never)).toEqual(answer);
  });

  test.each<[Question, Partial<QuestionAnswer>, object]>([
    [PERMISSION, { action: 'selected', option_id: 'yes' }, { outcome: { outcome: 'selected', optionId: 'yes' } }],
    [PERMISSION, { action: 'decline' }, { outcome: { outcome: 'selected', optionId: 'no' } }],
    [PERMISSION, { action: 'cancel' }, { outcome: { outcome: 'cancelled' } }],
    [FORM, { action: 'accept', content: { age: 3 } }, { action: 'accept', content: { age: 3 } }],
    [FORM, { action: 'decline' }, { action: 'decline' }],
  ])('of %o, %j is sent as %j', (question, answer, result) => {
    expect(acpResultFor(question, { ...given, ...answer } as QuestionAnswer)).toEqual(result);
  });
});

describe('a question as text', () => {
  test('stands alone, with how to answer it', () => {
    expect(questionText(PERMISSION)).toBe(
      'Run make?\nmake\n1. Allow (yes)\n2. Reject (no)\nAnswer with one of: yes, no.',
    );
    expect(questionText(FORM)).toContain('Answer with a text');
  });

  test.each([
    [PERMISSION, 'yes', { option_id: 'yes' }],
    [PERMISSION, ' allow\n', { option_id: 'yes' }],
    [PERMISSION, '2', { option_id: 'no' }],
    [PERMISSION, 'decline', { action: 'decline' }],
    [PERMISSION, 'maybe', undefined],
    [PERMISSION, '3', undefined],
    [FORM, '7', { action: 'accept', content: { age: 7 } }],
    [FORM, '{"age": 8}', { action: 'accept', content: { age: 8 } }],
    [FORM, 'cancel', { action: 'cancel' }],
    [URL_QUESTION, 'accept', { action: 'accept' }],
    [URL_QUESTION, 'what?', undefined],
  ])('%o is answered by %j', (question, text, answer) => {
    expect(answerFromText(question, text)).toEqual(answer);
  });
});
