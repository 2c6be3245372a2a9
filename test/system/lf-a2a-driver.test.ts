import { afterAll, describe, expect, test } from 'vitest';
import { questionEndIn, questionIn } from '../../packages/protocols/src/e2a/read-question.ts';
import type { E2AResponse } from '../../packages/protocols/src/e2a/response.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { Caller, fresh, read } from './caller.ts';
import { type ForeignAgent, ForeignAgents } from './peers/foreign-agents.ts';
import { System } from './system.ts';

// Agents on the official SDKs, as agents of a server.

const PEERS: Readonly<Record<string, ForeignAgent>> = {
  'SDK 1.3.0 over JSON-RPC': { version: '1.0' },
  'SDK 1.3.0 over HTTP+JSON': { version: '1.0', binding: 'HTTP+JSON' },
  'SDK 0.3.14 over JSON-RPC': { version: '0.3' },
  'SDK 0.3.14 over HTTP+JSON': { version: '0.3', binding: 'HTTP+JSON' },
};
const CUT: Readonly<Record<string, ForeignAgent>> = {
  'SDK 1.3.0': { version: '1.0', cutAfter: 2500 },
  'SDK 0.3.14': { version: '0.3', cutAfter: 2500 },
};
const names = [...Object.keys(PEERS), ...Object.keys(CUT)];
const foreign = await ForeignAgents.start([...Object.values(PEERS), ...Object.values(CUT)]);
const idOf = (name: string) => `peer-${names.indexOf(name)}`;
const urlOf = (name: string) => foreign.urls[names.indexOf(name)] ?? '';
const system = await System.start({
  config: { agents: Object.fromEntries(names.map((name) => [idOf(name), { driver: 'a2a', url: urlOf(name) }])) },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await foreign[Symbol.asyncDispose]();
});
const { api_key: key } = await system.caller('ada-agent');
const caller = new Caller(system, key);

async function ask(agent: string, params: JsonObject, more: JsonObject = {}) {
  const envelope = {
    request_id: fresh(),
    method: 'chat.send',
    agent_ref: { id: agent },
    is_stream: true,
    params,
    ...more,
  };
  const answer = await caller.post(envelope, { accept: 'application/x-ndjson' });
  const frames = (await answer.text())
    .trim()
    .split('\n')
    .map((line) => read(line));
  const text = frames.map(({ body }) => (body['delta_kind'] === 'text' ? body['delta'] : '')).join('');
  return { text, frames, end: frames.at(-1) ?? expect.unreachable() };
}

/** The whole answer, with what is done at each question. */
async function askAgent(agent: string, content: string, onQuestion: (place: { path: string }) => Promise<void>) {
  const request_id = fresh();
  const envelope = { request_id, method: 'chat.send', agent_ref: { id: agent }, is_stream: true, params: { content } };
  const answer = await caller.post(envelope, { accept: 'application/x-ndjson' });
  const frames: E2AResponse[] = [];
  for await (const text of answer.frames()) {
    const frame = read(text);
    frames.push(frame);
    const question = questionIn(frame);
    if (question === undefined) continue;
    await onQuestion({ path: `/e2a/requests/${request_id}/questions/${question.question_id}` });
  }
  return {
    text: frames.map(({ body }) => (body['delta_kind'] === 'text' ? body['delta'] : '')).join(''),
    questions: frames.flatMap((frame) => questionIn(frame) ?? []),
    ends: frames.flatMap((frame) => questionEndIn(frame) ?? []),
    end: frames.at(-1) ?? expect.unreachable(),
  };
}

describe.each(Object.keys(PEERS))('an agent on %s', (name) => {
  const agent = idOf(name);

  test('streams its text and completes', async () => {
    const { text, frames, end } = await ask(agent, { content: 'work' });
    expect(text).toBe('Hello world');
    expect(frames.filter(({ body }) => body['delta_kind'] === 'text').length).toBe(2);
    expect(end).toMatchObject({ response_kind: 'e2a.complete', status: 'succeeded' });
  });

  test('fails in its own words', async () => {
    const { end } = await ask(agent, { content: 'fail' });
    expect(end.body).toMatchObject({ code: 'A2A.TASK_FAILED', message: 'it failed' });
  });

  test('asks for input, and gets the answer of a person in the same request', async () => {
    const { text, questions, end } = await askAgent(agent, 'ask', async ({ path }) => {
      const json = { content: { answer: 'Oslo' } };
      expect((await call(system.url, { method: 'POST', path, key, json })).status).toBe(200);
    });
    expect(questions).toMatchObject([{ kind: 'form', title: 'Which city?' }]);
    expect([text, end.status]).toEqual(['You said Oslo', 'succeeded']);
  });

  test('asks for a sign-in, and continues by itself after it', async () => {
    const { text, questions, ends, end } = await askAgent(agent, 'sign-in', async () => {
      await fetch(`${urlOf(name)}/authorize`);
    });
    expect([questions, ends]).toMatchObject([[{ kind: 'auth', title: 'Sign in first.' }], [{ state: 'withdrawn' }]]);
    expect([text, end.status]).toEqual(['Hello world', 'succeeded']);
  });

  test('learns when a request is cancelled', async () => {
    const request_id = fresh();
    const envelope = {
      request_id,
      method: 'chat.send',
      agent_ref: { id: agent },
      is_stream: true,
      params: { content: 'hold' },
    };
    const answer = await caller.post(envelope, { accept: 'application/x-ndjson' });
    const frames = answer.frames();
    expect(read((await frames.next()).value).body['delta']).toBe('begun');
    await caller.cancel(request_id);
    expect(read((await frames.next()).value).body['code']).toBe('E2A.CANCELLED');
    const cancelled = async () => (await fetch(`${urlOf(name)}/cancelled`)).json();
    await expect.poll(cancelled, { timeout: 10_000 }).toBe(1);
  });

  test('receives text, files and data as its parts', async () => {
    const files = [
      { uri: 'data:text/plain;base64,aGk=', name: 'hi.txt' },
      { uri: 'https://files.example.com/a.pdf', name: 'a.pdf' },
    ];
    const { end } = await ask(agent, { content: 'parts', files, data: [{ rows: 3 }] });
    const result = end.body['result'] as JsonObject;
    const received = JSON.stringify(result['data']);
    // The SDK 0.3.14 drops the names of files over HTTP+JSON.
    if (name !== 'SDK 0.3.14 over HTTP+JSON') expect(received).toContain('hi.txt');
    // The SDK 1.3.0 shows bytes as an array.
    expect(received).toMatch(/aGk=|"0":104,"1":105/);
    expect(received).toContain('https://files.example.com/a.pdf');
    expect(received).toContain('"rows":3');
  });
});

describe.each(Object.keys(CUT))('a stream of %s that is cut', (name) => {
  test('is continued, and the reader gets every word once', async () => {
    const { text, end } = await ask(idOf(name), { content: 'slow 60' });
    expect(text).toBe(Array.from({ length: 60 }, (_, index) => `${index} `).join(''));
    expect(end).toMatchObject({ response_kind: 'e2a.complete', body: { result: null } });
  });
});
