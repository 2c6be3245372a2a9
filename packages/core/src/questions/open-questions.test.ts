import { type E2AResponse, type NewQuestion, newEnvelope, questionEndIn, questionIn } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TestIds } from '../../test-support/test-ids.ts';
import { type ModuleAgentFunction, moduleAgent } from '../agents/module-agent.ts';
import { timed } from '../agents/timed-agent.ts';
import { ALL_PERMISSIONS, NO_PERMISSIONS, type Principal } from '../call/principal.ts';
import { Engine } from '../engine/engine.ts';
import { AgentTools } from '../targets/agent-tools.ts';
import { toolFrom } from '../tools/define-tool.ts';
import { FixedTools } from '../tools/fixed-tools.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import type { QuestionsElsewhere } from './questions-elsewhere.ts';

const log = new SilentLog();
const ADA: Principal = { id: 'ada', kind: 'agent', permissions: { ...NO_PERMISSIONS, agents: ['*'], tools: ['*'] } };
const BOB: Principal = { ...ADA, id: 'bob' };
const APPROVER: Principal = {
  id: 'eve',
  kind: 'agent',
  permissions: { ...NO_PERMISSIONS, operations: ['questions.answer'] },
};

/** A server with one agent, `desk`, and the reader of its answer. */
class Desk {
  readonly clock = new TestClock();
  readonly ids = new TestIds();
  readonly engine = new Engine({ store: memoryStore(), clock: this.clock, ids: this.ids, log });

  constructor(run: ModuleAgentFunction) {
    this.engine.addAgent(moduleAgent('desk', run));
  }

  handle(requestId: string, envelope: Parameters<typeof newEnvelope>[0] = {}, principal = ADA) {
    const given = newEnvelope({
      request_id: requestId,
      method: 'chat.send',
      agent_ref: { id: 'desk' },
      is_stream: true,
      ...envelope,
    });
    return this.engine.handle(given, { principal, signal: new AbortController().signal, log });
  }

  /** The frames of a request, as they arrive. */
  ask(requestId = 'r1', principal = ADA) {
    const frames: E2AResponse[] = [];
    const over = (async () => {
      for await (const frame of this.handle(requestId, {}, principal)) frames.push(frame);
      return frames;
    })();
    return { frames, over };
  }

  /** Calls a method of the server. */
  async call(method: string, params: Record<string, unknown>, principal = ADA, more = {}) {
    const id = this.ids.uuid();
    const reading = this.handle(id, { method, params: params as never, is_stream: false, ...more }, principal);
    for await (const frame of reading) if (frame.is_final) return frame.body;
    throw new Error('no end');
  }

  async question(principal = ADA) {
    await expect.poll(() => this.engine.questions.openFor(principal).length).toBeGreaterThan(0);
    const [open] = this.engine.questions.openFor(principal);
    if (open === undefined) throw new Error('no question');
    return open.question;
  }
}

/** Asks once, and returns the answer. */
function asks(question: NewQuestion): ModuleAgentFunction {
  return async function* (_, call) {
    yield 'before';
    const answer = await call.ask?.(question);
    yield 'after';
    return { answer };
  };
}

const PERMISSION: NewQuestion = { kind: 'permission', title: 'Delete the folder?' };

test('a question and its end are frames in the answer, and the numbers continue', async () => {
  const desk = new Desk(asks(PERMISSION));
  const { frames, over } = desk.ask();
  const { question_id: questionId } = await desk.question();
  await expect.poll(() => frames.length).toBe(2);
  const [, questionFrame] = frames as [E2AResponse, E2AResponse];
  expect(questionFrame).toMatchObject({
    response_kind: 'acp.output_request',
    status: 'in_progress',
    is_final: false,
    body: {
      id: questionId,
      method: 'session/request_permission',
      params: { options: [{ option_id: 'allow', kind: 'allow_once' }, { option_id: 'reject' }] },
    },
  });
  expect(questionIn(questionFrame)).toMatchObject({
    question_id: questionId,
    kind: 'permission',
    title: 'Delete the folder?',
  });
  const answered = await desk.call('chat.user_answer', {
    request_id: 'r1',
    question_id: questionId,
    option_id: 'allow',
  });
  expect(answered['result']).toMatchObject({ question_id: questionId, answer: { action: 'selected', by: 'ada' } });
  await over;
  expect(frames.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 4]);
  expect(questionEndIn(frames[2] as E2AResponse)).toMatchObject({
    question_id: questionId,
    state: 'answered',
    answer: { option_id: 'allow', by: 'ada', channel: 'e2a' },
  });
  expect(frames[4]?.body['result']).toMatchObject({ answer: { option_id: 'allow' } });
});

test('a request without a stream can ask too', async () => {
  const desk = new Desk(asks(PERMISSION));
  const final = desk.call('chat.send', {});
  await desk.engine.questions.answer(
    { questionId: (await desk.question()).question_id },
    { option_id: 'reject' },
    { principal: ADA, channel: 'test' },
  );
  expect((await final)['result']).toMatchObject({ answer: { option_id: 'reject', channel: 'test' } });
});

test('the first answer counts; a later one is a conflict', async () => {
  const desk = new Desk(async function* (_, call) {
    await call.ask?.(PERMISSION);
    await call.ask?.({ ...PERMISSION, title: 'And this one?' });
  });
  const { over } = desk.ask();
  const { question_id: first } = await desk.question();
  const params = { question_id: first, option_id: 'allow' };
  const both = await Promise.all([desk.call('chat.user_answer', params), desk.call('chat.user_answer', params)]);
  expect(both.map((body) => body['code'] ?? 'taken').sort()).toEqual(['E2A.CONFLICT', 'taken']);
  const { question_id: second } = await desk.question();
  expect(second).not.toBe(first);
  await desk.call('chat.user_answer', { question_id: second, action: 'decline' });
  await over;
});

test('the same request over ACP: acp.tool_response', async () => {
  const desk = new Desk(asks(PERMISSION));
  const { frames, over } = desk.ask();
  const { question_id: id } = await desk.question();
  await desk.call('acp.tool_response', {
    jsonrpc_id: id,
    response: { outcome: { outcome: 'selected', optionId: 'allow' } },
  });
  await over;
  expect(frames.at(-1)?.body['result']).toMatchObject({ answer: { action: 'selected', option_id: 'allow' } });
});

test('without an answer, the rejecting option is chosen when the time is over', async () => {
  const desk = new Desk(asks({ ...PERMISSION, expires_in_ms: 5000 }));
  const { frames, over } = desk.ask();
  await desk.question();
  await desk.clock.advance(5000);
  await over;
  expect(frames.at(-1)?.body['result']).toMatchObject({
    answer: { action: 'selected', option_id: 'reject', by: null, channel: 'expiry' },
  });
  expect(questionEndIn(frames[2] as E2AResponse)).toMatchObject({ state: 'expired' });
});

test('a form without an answer is declined', async () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
  const desk = new Desk(asks({ kind: 'form', title: 'Who?', schema: { ...schema, required: ['name'] } }));
  const { frames, over } = desk.ask();
  await desk.question();
  await desk.clock.advance(600_000);
  await over;
  expect(frames.at(-1)?.body['result']).toMatchObject({ answer: { action: 'decline' } });
});

test('an answer that does not fit is refused with the expected form, and the question stays open', async () => {
  const desk = new Desk(
    asks({
      kind: 'form',
      title: 'Who?',
      schema: { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] },
    }),
  );
  const { frames, over } = desk.ask();
  const { question_id: id } = await desk.question();
  const wrong = await desk.call('chat.user_answer', { question_id: id, content: { age: 'old' } });
  expect(wrong).toMatchObject({ code: 'E2A.INVALID_MESSAGE' });
  expect(wrong['message']).toContain('age must be an integer; got "old"');
  await desk.call('chat.user_answer', { question_id: id, content: { age: 7 } });
  await over;
  expect(frames.at(-1)?.body['result']).toMatchObject({ answer: { action: 'accept', content: { age: 7 } } });
});

test('an unknown option is refused with the list of options', async () => {
  const desk = new Desk(asks(PERMISSION));
  const { over } = desk.ask();
  const { question_id: id } = await desk.question();
  const wrong = await desk.call('chat.user_answer', { question_id: id, option_id: 'alow' });
  expect(wrong['message']).toBe('option_id must be one of allow, reject; got "alow"');
  await desk.call('chat.user_answer', { question_id: id, option_id: 'allow' });
  await over;
});

test('the deadline stands still while a question is open, and runs on afterwards', async () => {
  const desk = new Desk(async function* (_, call) {
    await call.ask?.({ ...PERMISSION, expires_in_ms: 3_600_000 });
    await desk.clock.wait(700_000);
  });
  const { frames, over } = desk.ask();
  const { question_id: id } = await desk.question();
  await desk.clock.advance(3_000_000);
  expect(frames.some(({ is_final }) => is_final)).toBe(false);
  await desk.call('chat.user_answer', { question_id: id, option_id: 'allow' });
  await expect.poll(() => frames.length).toBe(2);
  await desk.clock.advance(600_000);
  await over;
  expect(frames.at(-1)?.body).toMatchObject({ code: 'E2A.TIMEOUT' });
});

test("the time of an agent's own limit stands still too", async () => {
  const desk = new Desk(async function* () {});
  const agent = moduleAgent('desk', asks(PERMISSION));
  desk.engine.addAgent(timed(agent, { milliseconds: 1000, clock: desk.clock }));
  const { frames, over } = desk.ask();
  const { question_id: id } = await desk.question();
  await desk.clock.advance(5000);
  await desk.call('chat.user_answer', { question_id: id, option_id: 'allow' });
  await over;
  expect(frames.at(-1)).toMatchObject({ status: 'succeeded' });
});

test('cancelling the request withdraws its question, with a frame before the last one', async () => {
  let reason: unknown;
  const desk = new Desk(async function* (_, call) {
    await call.ask?.(PERMISSION).catch((error: unknown) => {
      reason = error;
    });
  });
  const { frames, over } = desk.ask();
  await desk.question();
  desk.engine.runs.cancel({ owner: 'ada', requestId: 'r1' });
  await over;
  expect(frames.map((frame) => questionEndIn(frame)?.state ?? frame.response_kind)).toEqual([
    'acp.output_request',
    'withdrawn',
    'e2a.error',
  ]);
  expect(desk.engine.questions.openFor(ADA)).toEqual([]);
  await expect.poll(() => reason).toMatchObject({ failure: { code: 'cancelled' } });
});

test('an agent that does not wait for the answer leaves no open question', async () => {
  const desk = new Desk(async function* (_, call) {
    call.ask?.(PERMISSION).catch(() => {});
    yield 'done';
  });
  const { over } = desk.ask();
  await over;
  await expect.poll(() => desk.engine.questions.openFor(ADA)).toEqual([]);
});

test('another caller sees no question; an approver sees and answers it', async () => {
  const desk = new Desk(asks(PERMISSION));
  const { frames, over } = desk.ask();
  const { question_id: id } = await desk.question();
  expect(desk.engine.questions.openFor(BOB)).toEqual([]);
  const answer = { question_id: id, option_id: 'allow' };
  expect(await desk.call('chat.user_answer', answer, BOB)).toMatchObject({ code: 'E2A.NOT_FOUND' });
  expect(desk.engine.questions.openFor(APPROVER)).toHaveLength(1);
  await desk.call('chat.user_answer', answer, APPROVER, { agent_ref: null });
  await over;
  expect(frames.at(-1)?.body['result']).toMatchObject({ answer: { by: 'eve' } });
});

test('an agent never answers the question of a request that it answers, whatever its permissions', async () => {
  const desk = new Desk(asks(PERMISSION));
  const { over } = desk.ask();
  const { question_id: id } = await desk.question();
  const own: Principal = { id: 'desk', kind: 'agent', permissions: ALL_PERMISSIONS };
  const answer = { question_id: id, option_id: 'allow' };
  expect(await desk.call('chat.user_answer', answer, own)).toMatchObject({ code: 'E2A.FORBIDDEN' });
  expect(desk.engine.questions.openFor(own)).toEqual([]);
  await desk.call('chat.user_answer', answer);
  await over;
});

test('a permission is never given by a tool call, a form may be', async () => {
  const desk = new Desk(async function* (_, call) {
    await call.ask?.(PERMISSION);
    await call.ask?.({ kind: 'choice', title: 'Which?', options: [{ id: 'a', name: 'A', kind: 'choice' }] });
  });
  const { over } = desk.ask();
  const first = (await desk.question()).question_id;
  const { questions } = desk.engine;
  const byTool = { principal: ADA, channel: 'mcp', isToolCall: true };
  expect(questions.mayAnswer(first, byTool)).toBe(false);
  expect(questions.mayAnswer(first, { ...byTool, isToolCall: false })).toBe(true);
  await expect(questions.answer({ questionId: first }, { option_id: 'allow' }, byTool)).rejects.toMatchObject({
    failure: { code: 'forbidden' },
  });
  // The same over the method of an agent's tool, as a model could try it.
  const sneaky = await desk.call('chat.user_answer', { question_id: first, option_id: 'allow' }, ADA, {
    channel_context: { hops: 1 },
  });
  expect(sneaky).toMatchObject({ code: 'E2A.FORBIDDEN' });
  await questions.answer({ questionId: first }, { option_id: 'allow' }, { principal: ADA, channel: 'e2a' });
  const second = (await desk.question()).question_id;
  await questions.answer({ questionId: second }, { option_id: 'a' }, byTool);
  await over;
});

test('a model that calls an agent as a tool cannot approve through that tool', async () => {
  const results: unknown[] = [];
  const desk = new Desk(async function* (_, call) {
    const answer = call.ask?.(PERMISSION);
    await expect.poll(() => desk.engine.questions.openFor(ADA)).toHaveLength(1);
    const id = desk.engine.questions.openFor(ADA)[0]?.question.question_id ?? '';
    const params = { question_id: id, option_id: 'allow' };
    const answered = call.tools?.call('desk', { method: 'chat.user_answer', params });
    results.push(await answered?.catch((error: unknown) => error));
    return { answer: await answer };
  });
  const { engine, clock, ids } = desk;
  engine.tools = new ToolRegistry({ clock });
  engine.tools.add(new AgentTools({ engine, ids, agents: () => [{ id: 'desk' }] as never }));
  const { frames, over } = desk.ask();
  await expect.poll(() => results.length).toBe(1);
  expect(results[0]).toMatchObject({ message: expect.stringContaining('a person has to answer it') });
  await desk.call('chat.user_answer', { question_id: (await desk.question()).question_id, option_id: 'reject' });
  await over;
  expect(frames.at(-1)?.body['result']).toMatchObject({ answer: { option_id: 'reject' } });
});

test('a tool asks the person who reads the request of the agent that called it', async () => {
  const desk = new Desk(async function* (_, call) {
    return { result: (await call.tools?.call('remove', {}, { timeoutMs: 2500 }))?.data };
  });
  const { engine, clock } = desk;
  engine.tools = new ToolRegistry({ clock });
  const remove = toolFrom({
    name: 'remove',
    input: { type: 'object' },
    run: async (_, call) => (await call.ask?.(PERMISSION))?.option_id,
  });
  engine.tools.add(new FixedTools([remove]));
  const { frames, over } = desk.ask();
  const { question_id: id } = await desk.question();
  await clock.advance(60_000);
  await desk.call('chat.user_answer', { question_id: id, option_id: 'allow' });
  await over;
  expect(questionIn(frames[0] as E2AResponse)?.question_id).toBe(id);
  expect(frames.at(-1)?.body['result']).toEqual({ result: 'allow' });
});

test('an agent that is used as a tool asks through the request of the agent that uses it', async () => {
  const desk = new Desk(async function* (_, call) {
    return { result: (await call.tools?.call('clerk', { content: 'go' }))?.data };
  });
  const { engine, clock, ids } = desk;
  engine.addAgent(moduleAgent('clerk', asks(PERMISSION)));
  engine.tools = new ToolRegistry({ clock });
  engine.tools.add(new AgentTools({ engine, ids, agents: () => [{ id: 'clerk' }] as never }));
  const { frames, over } = desk.ask();
  const { question_id: id } = await desk.question();
  expect(engine.questions.of({ owner: 'ada', requestId: 'r1' })).toHaveLength(1);
  const clerk: Principal = { id: 'clerk', kind: 'agent', permissions: ALL_PERMISSIONS };
  expect(engine.questions.mayAnswer(id, { principal: clerk, channel: 'e2a' })).toBe(false);
  await desk.call('chat.user_answer', { question_id: id, option_id: 'allow' });
  await over;
  expect(frames.at(-1)?.body['result']).toMatchObject({ result: { answer: { option_id: 'allow' } } });
});

test.each([
  [{ kind: 'permission' }, 'title is required'],
  [{ kind: 'choice', title: 'Which?' }, 'needs options'],
  [{ kind: 'form', title: 'What?' }, 'needs schema'],
  [{ kind: 'url', title: 'Where?' }, 'needs url'],
  [{ ...PERMISSION, option: [] }, 'option is not a known field'],
])('an invalid question is an error of the agent: %j', async (question, message) => {
  let error: unknown;
  const desk = new Desk(async function* (_, call) {
    await call.ask?.(question as NewQuestion).catch((caught: unknown) => {
      error = caught;
    });
  });
  await desk.ask().over;
  expect(String(error)).toContain(message);
});

test('one request has at most sixteen open questions', async () => {
  let error: unknown;
  const desk = new Desk(async function* (_, call) {
    const answers = Array.from({ length: 17 }, () => call.ask?.(PERMISSION));
    await answers.at(-1)?.catch((caught: unknown) => {
      error = caught;
    });
    for (const one of answers.slice(0, -1)) one?.catch(() => {});
  });
  await desk.ask().over;
  expect(String(error)).toContain('16 at once');
});

test('ended questions are listed, newest first, for callers that could have answered them', async () => {
  const desk = new Desk(asks(PERMISSION));
  const { questions } = desk.engine;
  const first = desk.ask('r1');
  await desk.call('chat.user_answer', { question_id: (await desk.question()).question_id, option_id: 'allow' });
  await first.over;
  const second = desk.ask('r2');
  await desk.question();
  expect(questions.endedFor(ADA)).toMatchObject([{ requestId: 'r1', end: { state: 'answered' } }]);
  desk.engine.runs.cancel({ owner: 'ada', requestId: 'r2' });
  await second.over;
  expect(questions.endedFor(ADA).map(({ requestId, end }) => [requestId, end.state])).toEqual([
    ['r2', 'withdrawn'],
    ['r1', 'answered'],
  ]);
  expect(questions.endedFor(APPROVER)).toHaveLength(2);
  expect(questions.endedFor(BOB)).toEqual([]);
  expect(questions.endedFor({ id: 'desk', kind: 'agent', permissions: ALL_PERMISSIONS })).toEqual([]);
});

test('only the latest ended questions are remembered', async () => {
  const desk = new Desk(async function* (_, call) {
    for (let at = 0; at < 205; at++) await call.ask?.({ ...PERMISSION, title: `number ${at}` });
    yield 'after';
  });
  const { questions } = desk.engine;
  questions.onChange(({ question: { question_id: questionId } }, end) => {
    if (end !== undefined) return;
    void questions.answer({ questionId }, { option_id: 'allow' }, { principal: ADA, channel: 'test' });
  });
  await desk.ask().over;
  const titles = questions.endedFor(ADA).map(({ question }) => question.title);
  expect([titles.length, titles[0], titles.at(-1)]).toEqual([200, 'number 204', 'number 5']);
});

test('listeners receive every question and its end', async () => {
  const desk = new Desk(asks(PERMISSION));
  const seen: string[] = [];
  const stop = desk.engine.questions.onChange(({ requestId }, end) =>
    seen.push(`${requestId} ${end?.state ?? 'open'}`),
  );
  const { over } = desk.ask();
  await desk.call('chat.user_answer', { question_id: (await desk.question()).question_id, option_id: 'allow' });
  await over;
  stop();
  expect(seen).toEqual(['r1 open', 'r1 answered']);
});

test('a question that moves to this node while others are asked for theirs is listed once', async () => {
  const desk = new Desk(asks(PERMISSION));
  const { over } = desk.ask();
  const question = await desk.question();
  const { questions } = desk.engine;
  const elsewhere = { openFor: async (principal: Principal) => questions.openFor(principal) };
  questions.join(elsewhere as unknown as QuestionsElsewhere);
  expect(await questions.anywhereFor(ADA)).toMatchObject([{ question }]);
  await questions.answer({ questionId: question.question_id }, { option_id: 'allow' }, { principal: ADA, channel: '' });
  await over;
});
