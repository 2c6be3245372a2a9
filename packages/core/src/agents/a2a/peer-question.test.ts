import type { GivenAnswer, QuestionAnswer } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { questionInStatus, signInOf } from './peer-question.ts';

const answered = (given: GivenAnswer): QuestionAnswer => ({
  action: 'accept',
  by: 'ada',
  channel: 'test',
  at: '',
  ...given,
});
const OPTIONS = [
  { id: 'allow', name: 'Allow', kind: 'allow_once' },
  { id: 'reject', name: 'Reject', kind: 'reject_once' },
] as const;
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

describe('a question of a remote agent', () => {
  test('that is only text is a form with one field, whose text is the answer', () => {
    const { question, answer } = questionInStatus([{ text: 'Which city?' }], 'Which city?');
    expect(question).toMatchObject({ kind: 'form', title: 'Which city?', schema: { required: ['answer'] } });
    expect(answer(answered({ content: { answer: 'Oslo' } }))).toEqual([{ text: 'Oslo' }]);
    expect(answer(answered({ action: 'decline' }))).toEqual([{ text: 'The question was declined.' }]);
  });

  test('without text has a default title', () => {
    expect(questionInStatus([], '').question.title).toBe('The agent needs more input.');
  });

  test('that is long is complete in its description', () => {
    const text = 'x'.repeat(5000);
    const { question } = questionInStatus([{ text }], text);
    expect([question.title.length, question.description]).toEqual([1000, text]);
  });

  test.each([
    [{ options: ['a', 'b'] }],
    [{ choices: [{ value: 'a', label: 'A' }, { id: 'b' }] }],
    [{ options: [{ optionId: 'a', title: 'A' }, { option_id: 'b' }] }],
  ])('with options is a choice, and the id of the option is the answer: %j', (data) => {
    const { question, answer } = questionInStatus([{ text: 'Which?' }, { data }], 'Which?');
    expect(question).toMatchObject({ kind: 'choice', title: 'Which?', options: [{ id: 'a' }, { id: 'b' }] });
    expect(answer(answered({ action: 'selected', option_id: 'b' }))).toEqual([{ text: 'b' }]);
  });

  test('with a form is that form, and its content is the answer', () => {
    const { question, answer } = questionInStatus([{ data: { requestedSchema: SCHEMA } }], 'Where?');
    expect(question).toMatchObject({ kind: 'form', title: 'Where?', schema: SCHEMA });
    expect(answer(answered({ content: { city: 'Oslo' } }))).toEqual([{ data: { city: 'Oslo' } }]);
  });

  test('of another Dragoman is unchanged, and its answer has its id', () => {
    const data = { question_id: 'q_1', kind: 'permission', title: 'May I?', options: [...OPTIONS], asked_at: 'x' };
    const { question, answer } = questionInStatus([{ text: 'long text' }, { data }], 'long text');
    expect(question).toEqual({ kind: 'permission', title: 'May I?', options: [...OPTIONS] });
    expect(answer(answered({ action: 'selected', option_id: 'allow' }))).toEqual([
      { data: { question_id: 'q_1', action: 'selected', option_id: 'allow' } },
    ]);
    expect(answer(answered({ action: 'decline' }))).toEqual([{ data: { question_id: 'q_1', action: 'decline' } }]);
  });

  test.each([
    [{ options: [] }],
    [{ options: [{ id: 5 }] }],
    [{ options: ['a', 'a'] }],
    [{ schema: { type: 'object', properties: { deep: { type: 'object' } } } }],
    [{ schema: 'text' }],
    [{ kind: 'form', title: 'No form' }],
  ])('with invalid data uses its text: %j', (data) => {
    expect(questionInStatus([{ text: 'Which?' }, { data }], 'Which?').question).toMatchObject({
      kind: 'form',
      schema: { required: ['answer'] },
    });
  });
});

test('a sign-in has the page to visit, if the agent names a web page', () => {
  const url = 'https://login.example.com/';
  expect(signInOf([{ text: 'Sign in' }, { data: { url } }], 'Sign in')).toEqual({
    kind: 'auth',
    title: 'Sign in',
    url,
  });
  expect(signInOf([{ data: { url: 'javascript:alert(1)' } }], '')).toEqual({
    kind: 'auth',
    title: 'The agent needs an authorization.',
  });
});
