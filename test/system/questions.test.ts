import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { E2AResponse } from '../../packages/protocols/src/e2a/response.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { Caller, expectOrdered, fresh, read } from './caller.ts';
import { agentModule, moduleAgent, System } from './system.ts';

let system: System;
let ada: Caller;
let bob: Caller;
let eve: Caller;

beforeAll(async () => {
  system = await System.start({
    config: {
      default_agent: 'asker',
      agents: { asker: moduleAgent('asker') },
      tools: [agentModule('removing-tool')],
      tool_approvals: [{ tools: 'rem*', approval: 'always' }],
    },
  });
  const mine = { permissions: { agents: ['*'], tools: ['*'] } };
  ada = new Caller(system, (await system.caller('ada-agent', mine)).api_key);
  bob = new Caller(system, (await system.caller('bob-agent')).api_key);
  const permissions = { operations: ['questions.answer'] };
  eve = new Caller(system, (await system.caller('eve-approver', { permissions })).api_key);
});
afterAll(() => system[Symbol.asyncDispose]());

/** A request of ada's whose question is there. */
async function askAgent(question?: JsonObject) {
  const id = fresh();
  const params = question === undefined ? {} : { question };
  const frames = (
    await ada.post({ request_id: id, method: 'chat.send', params, is_stream: true }, { accept: 'text/event-stream' })
  ).frames();
  const first = read((await frames.next()).value);
  const frame = read((await frames.next()).value);
  const rest = async () => {
    const all: E2AResponse[] = [first, frame];
    for await (const text of frames) all.push(read(text));
    return all;
  };
  return { id, frame, questionId: String(frame.body['id']), rest };
}

const listed = async (caller: Caller, state: string) => {
  const answer = await call(system.url, { path: `/e2a/questions?state=${state}`, key: caller.key });
  return ((await answer.json()) as { questions: JsonObject[] }).questions;
};
const open = (caller: Caller) => listed(caller, 'open');

const answerBy = (caller: Caller, id: string, questionId: string, json: JsonObject) =>
  call(system.url, { method: 'POST', path: `/e2a/requests/${id}/questions/${questionId}`, key: caller.key, json });

describe('a question over HTTP', () => {
  test('is listed for its caller, is answered once, and the stream continues', async () => {
    const { id, questionId, frame, rest } = await askAgent();
    expect(frame.response_kind).toBe('acp.output_request');
    expect(await open(ada)).toMatchObject([{ request_id: id, question_id: questionId, title: 'May I?' }]);
    const taken = await answerBy(ada, id, questionId, { option_id: 'allow' });
    expect(taken.status).toBe(200);
    expect(await taken.json()).toMatchObject({ question_id: questionId, answer: { by: 'ada-agent', channel: 'e2a' } });
    const frames = await rest();
    expectOrdered(frames);
    expect(frames.at(-1)?.body['result']).toMatchObject({ answer: { option_id: 'allow' } });
    expect((await answerBy(ada, id, questionId, { option_id: 'allow' })).status).toBe(409);
    expect(await open(ada)).toEqual([]);
    const [past] = await listed(ada, 'ended');
    expect(past).toMatchObject({ question_id: questionId, state: 'answered', answer: { option_id: 'allow' } });
    expect(await listed(bob, 'ended')).toEqual([]);
    // What was streamed is what is recorded.
    expect((await ada.resume(id)).map(read)).toEqual(frames);
  });

  test('looks absent to another caller, and an approver answers it', async () => {
    const { id, questionId, rest } = await askAgent();
    expect(await open(bob)).toEqual([]);
    expect((await answerBy(bob, id, questionId, { option_id: 'allow' })).status).toBe(404);
    expect(await open(eve)).toMatchObject([{ caller_id: 'ada-agent', question_id: questionId }]);
    expect((await answerBy(eve, id, questionId, { option_id: 'reject' })).status).toBe(200);
    expect((await rest()).at(-1)?.body['result']).toMatchObject({ answer: { by: 'eve-approver' } });
  });

  test('is answered by an operator', async () => {
    const { questionId, rest } = await askAgent();
    const listed = await call(system.url, { path: '/admin/v1/questions', key: system.adminKey });
    expect(await listed.json()).toMatchObject({ questions: [{ question_id: questionId }] });
    const path = `/admin/v1/questions/${questionId}`;
    const taken = await call(system.url, { method: 'POST', path, key: system.adminKey, json: { option_id: 'allow' } });
    expect(taken.status).toBe(200);
    expect((await rest()).at(-1)?.body['result']).toMatchObject({ answer: { by: 'admin', channel: 'admin' } });
  });

  test('a wrong answer names the field and the options', async () => {
    const { id, questionId, rest } = await askAgent();
    const wrong = await answerBy(ada, id, questionId, { option_id: 'alow' });
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({
      issues: [{ pointer: '/option_id', suggestion: 'did you mean allow?' }],
    });
    const misspelt = await answerBy(ada, id, questionId, { option: 'allow' });
    expect(await misspelt.json()).toMatchObject({ issues: [{ pointer: '/option', suggestion: expect.any(String) }] });
    await answerBy(ada, id, questionId, { action: 'cancel' });
    expect((await rest()).at(-1)?.body['result']).toMatchObject({ answer: { action: 'cancel' } });
  });

  test('of a request that is cancelled is withdrawn', async () => {
    const { id, questionId, rest } = await askAgent();
    await ada.cancel(id);
    const frames = await rest();
    expect(frames.at(-2)?.body).toMatchObject({ delta: { question_id: questionId, state: 'withdrawn' } });
    expect(frames.at(-1)?.body).toMatchObject({ code: 'E2A.CANCELLED' });
    expect((await answerBy(ada, id, questionId, { option_id: 'allow' })).status).toBe(409);
  });
});

test.each([
  ['allow', { result: { removed: '/a' } }],
  ['reject', { code: 'E2A.FORBIDDEN', message: 'The call of the tool "remove" was rejected by a person.' }],
])('a tool that needs approval waits for it: %s', async (option, body) => {
  const envelope = { request_id: fresh(), method: 'remove', params: { path: '/a' }, agent_ref: { id: 'tools' } };
  const answer = ada.post(envelope);
  await expect
    .poll(() => open(ada))
    .toMatchObject([{ title: 'Call the tool remove?', subject: { input: { path: '/a' } } }]);
  const [{ question_id: id } = {}] = await open(ada);
  await answerBy(ada, envelope.request_id, String(id), { option_id: option });
  expect(await (await answer).json()).toMatchObject({ body });
});

test('a question is answered over the WebSocket that it arrived on', async () => {
  const socket = await ada.socket();
  const id = fresh();
  const answered = socket.ask({ request_id: id, method: 'chat.send', params: {}, is_stream: true });
  await expect.poll(() => open(ada)).toHaveLength(1);
  const [{ question_id: questionId } = {}] = await open(ada);
  await socket.ask({
    request_id: fresh(),
    method: 'chat.user_answer',
    params: { request_id: id, question_id: String(questionId), option_id: 'allow' },
  });
  expect(read((await answered).at(-1)).body['result']).toMatchObject({ answer: { option_id: 'allow' } });
  socket.close();
});

test('after a crash the question is gone with its request, which ends as interrupted', async () => {
  const { id, questionId } = await askAgent();
  await system.kill();
  await system.start();
  expect(await open(ada)).toEqual([]);
  const frames = (await ada.resume(id)).map(read);
  expectOrdered(frames);
  expect(frames.map((frame) => frame.response_kind)).toEqual(['e2a.chunk', 'acp.output_request', 'e2a.error']);
  expect(frames.at(-1)?.body).toMatchObject({ code: 'E2A.INTERRUPTED' });
  expect((await answerBy(ada, id, questionId, { option_id: 'allow' })).status).toBe(409);
});
