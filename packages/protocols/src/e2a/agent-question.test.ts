import { expect, test } from 'vitest';
import { agentQuestionIn } from './agent-question.ts';

const given = { by: 'ann', channel: 'e2a', at: '2026-03-28T12:00:00.000Z' } as const;

test('a permission request of an agent is a permission, answered as ACP answers it', () => {
  const found = agentQuestionIn({
    response_kind: 'acp.output_request',
    body: {
      id: 7,
      method: 'session/request_permission',
      params: { toolCall: { title: 'rm -r build' }, options: [{ optionId: 'a', name: 'Yes', kind: 'allow_once' }] },
    },
  });
  expect(found?.question).toMatchObject({ kind: 'permission', title: 'rm -r build', options: [{ id: 'a' }] });
  expect(found?.reply({ ...given, action: 'selected', option_id: 'a' })).toEqual({
    method: 'acp.tool_response',
    params: {
      jsonrpc_id: 7,
      response: { jsonrpc: '2.0', id: 7, result: { outcome: { outcome: 'selected', optionId: 'a' } } },
    },
  });
});

test('a question about a plan offers its fixed options', () => {
  const found = agentQuestionIn({
    response_kind: 'plan.approval_required',
    body: { plan_content: '1. dig', plan_slug: 'hole' },
  });
  expect(found?.question).toEqual({
    kind: 'plan',
    title: 'Approve the plan hole?',
    subject: { type: 'plan', text: '1. dig' },
  });
  expect(found?.reply({ ...given, action: 'selected', option_id: 'allow' }).params).toMatchObject({
    question_id: 'hole',
    option_id: 'allow',
  });
});

test.each([
  [
    { question: 'Which?', options: ['red', { label: 'Green', id: 'g' }] },
    { kind: 'choice', options: [{ id: 'red' }, { id: 'g', name: 'Green' }] },
  ],
  [{ question: 'Name?' }, { kind: 'form', schema: { properties: { answer: { type: 'string' } } } }],
  [
    { questions: [{ question: 'A?' }, { question: 'B?', options: ['x'] }] },
    { kind: 'form', title: 'A? B?', schema: { properties: { answer_2: { enum: ['x'] } } } },
  ],
])('a question to the user is a choice or a form: %j', (delta, question) => {
  const found = agentQuestionIn({
    response_kind: 'e2a.chunk',
    body: { delta_kind: 'custom', event_type: 'chat.ask_user_question', delta },
  });
  expect(found?.question).toMatchObject(question);
});

test('the answer to several questions is in their order', () => {
  const delta = { question_id: 'u1', questions: [{ question: 'A?' }, { question: 'B?' }] };
  const found = agentQuestionIn({
    response_kind: 'e2a.chunk',
    body: { delta_kind: 'custom', event_type: 'chat.ask_user_question', delta },
  });
  const content = { answer_1: 'one', answer_2: 'two' };
  expect(found?.reply({ ...given, action: 'accept', content })).toEqual({
    method: 'chat.user_answer',
    params: { question_id: 'u1', action: 'accept', content, answers: ['one', 'two'] },
  });
});

test.each([
  [{ response_kind: 'acp.output_request', body: { id: 1, method: 'fs/read_text_file', params: {} } }],
  [{ response_kind: 'acp.output_request', body: { method: 'session/request_permission', params: {} } }],
  [{ response_kind: 'plan.approval_required', is_final: true, body: { plan_content: 'over' } }],
  [{ response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: 'hello' } }],
] as const)('other frames ask nothing: %j', (frame) => {
  expect(agentQuestionIn(frame as never)).toBeUndefined();
});
