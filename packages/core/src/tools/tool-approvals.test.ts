import type { NewQuestion, QuestionAnswer } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { TestClock } from '../../test-support/test-clock.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import { Ending } from '../ending/ending.ts';
import { toolFrom } from './define-tool.ts';
import { FixedTools } from './fixed-tools.ts';
import type { ApprovalRule } from './tool-approvals.ts';
import { ToolRegistry } from './tool-registry.ts';

const ADA: Principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS };

/** A tool `files__remove` that counts its calls, and a person who answers this. */
function watched(rules: readonly ApprovalRule[], option = 'allow') {
  const registry = new ToolRegistry({ clock: new TestClock() });
  let runs = 0;
  const questions: NewQuestion[] = [];
  const runsAtQuestion: number[] = [];
  const remove = toolFrom({
    name: 'files__remove',
    input: { type: 'object' },
    run: () => {
      runs += 1;
      return 'gone';
    },
  });
  registry.add(new FixedTools([remove]));
  registry.approvals.set(rules);
  const ask = async (question: NewQuestion): Promise<QuestionAnswer> => {
    runsAtQuestion.push(runs);
    questions.push(question);
    return { action: 'selected', option_id: option, by: 'ada', channel: 'test', at: '' };
  };
  const call = async (principal = ADA, canAsk = true) =>
    registry.call({
      name: 'files__remove',
      args: { path: '/a' },
      principal,
      ending: new Ending(),
      ...(canAsk && { ask }),
    });
  return { call, questions, runsAtQuestion, runs: () => runs };
}

test('always: a person approves each call, with its arguments', async () => {
  const { call, questions, runsAtQuestion } = watched([{ tools: 'files__*', approval: 'always' }]);
  expect(await call()).toMatchObject({ success: true, data: 'gone' });
  await call();
  expect(runsAtQuestion).toEqual([0, 1]);
  expect(questions[0]).toMatchObject({
    kind: 'permission',
    title: 'Call the tool files__remove?',
    subject: { type: 'tool_call', input: { path: '/a' } },
  });
});

test('once: before the first call of each caller', async () => {
  const { call, questions } = watched([{ tools: 'files__remove', approval: 'once' }]);
  await call();
  await call();
  expect(questions).toHaveLength(1);
  await call({ ...ADA, id: 'bob' });
  expect(questions).toHaveLength(2);
});

test('a call that is rejected does not run, and the next one needs approval again', async () => {
  const { call, questions, runs } = watched([{ tools: '*', approval: 'once' }], 'reject');
  await expect(call()).rejects.toMatchObject({ failure: { code: 'forbidden' } });
  expect(runs()).toBe(0);
  expect(questions).toHaveLength(1);
});

test('the first rule that names a tool decides, and other tools need no approval', async () => {
  const { call, questions } = watched([
    { tools: 'files__remove', approval: 'never' },
    { tools: 'files__*', approval: 'always' },
  ]);
  await call();
  const other = watched([{ tools: 'files_remove', approval: 'always' }]);
  await other.call();
  expect([...questions, ...other.questions]).toEqual([]);
});

test('where no person can approve, the call is refused with the fix', async () => {
  const { call, runs } = watched([{ tools: '*__rem*e', approval: 'always' }]);
  await expect(call(ADA, false)).rejects.toMatchObject({
    failure: { code: 'forbidden', details: { suggestions: [expect.stringContaining('"tools"')] } },
  });
  expect(runs()).toBe(0);
});
