// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference is written like this
import { fileURLToPath } from 'node:url';
import OpenAI, { APIError } from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { ScriptedModel } from '../../packages/core/test-support/scripted-model.ts';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { agentModule, moduleAgent, System } from './system.ts';

// The official client of OpenAI against this server, and through it a model behind the driver `openai`.

/** Calls the function that the last message names; without one, or after its result, it returns what it has read. */
const model = await ScriptedModel.start((body: JsonObject) => {
  const messages = body['messages'] as JsonObject[];
  const tools = ((body['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
  const wanted = tools.find((name) => String(messages.at(-1)?.['content']).includes(`use ${name}`));
  if (wanted !== undefined) return { calls: [[wanted, wanted === 'work' ? { mode: 'work' } : { city: 'Oslo' }]] };
  return { reasoning: ['hm'], text: ['I read: ', messages.map(({ role, content }) => `${role}=${content}`).join('|')] };
});
const system = System.create({
  config: {
    agents: {
      echo: moduleAgent('echo'),
      worker: moduleAgent('worker'),
      asker: moduleAgent('asker'),
      historian: moduleAgent('historian'),
      helper: {
        driver: 'openai',
        base_url: model.url,
        model: 'small',
        key: '${MODEL_KEY}',
        instructions: 'Help.',
        tools: ['work'],
      },
    },
    tools: [agentModule('work-tool')],
    workflows: { stored: { greet: { file: fileURLToPath(new URL('./agents/greet.jsonl', import.meta.url)) } } },
  },
});
const ENVIRONMENT = { MODEL_KEY: 'sk-the-key-of-the-model' };
await system.start(ENVIRONMENT);
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

const all = ['*'];
const ada = await system.caller('ada-agent', {
  permissions: { agents: all, tools: all, workflows: all, operations: all },
});
const bob = await system.caller('bob-agent', { permissions: { agents: ['echo'] } });
const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${system.url}/v1`, maxRetries: 0 });
const client = clientOf(ada.api_key);
const user = (content: string) => [{ role: 'user' as const, content }];
const WEATHER = { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } };

describe('models', () => {
  test('are the agents and workflows that the key may use', async () => {
    const idsOf = async (of: OpenAI) => (await of.models.list()).data.map(({ id }) => id);
    expect(await idsOf(client)).toEqual(['asker', 'echo', 'helper', 'historian', 'worker', 'workflow:greet']);
    expect(await idsOf(clientOf(bob.api_key))).toEqual(['echo']);
    expect(await client.models.retrieve('echo')).toMatchObject({ id: 'echo', object: 'model' });
    await expect(clientOf(bob.api_key).models.retrieve('worker')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });
});

describe('chat completions', () => {
  test('answer whole', async () => {
    const completion = await client.chat.completions.create({ model: 'worker', messages: user('work') });
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      model: 'worker',
      choices: [{ message: { role: 'assistant', content: 'Hello world' }, finish_reason: 'stop' }],
    });
  });

  test('stream, with reasoning and usage', async () => {
    const stream = await client.chat.completions.create({
      model: 'helper',
      messages: user('hi'),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const deltas = chunks.map(
      ({ choices }) => (choices[0]?.delta ?? {}) as { content?: string; reasoning_content?: string },
    );
    expect(deltas.map(({ content = '' }) => content).join('')).toBe('I read: system=Help.|user=hi');
    expect(deltas.map(({ reasoning_content: text = '' }) => text).join('')).toBe('hm');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 10, total_tokens: 15 } });
    expect(model.requests.at(-1)?.headers.authorization).toBe('Bearer sk-the-key-of-the-model');
  });

  test('call tools of this server themselves, and leave those of the caller to it', async () => {
    const whole = await client.chat.completions.create({ model: 'helper', messages: user('use work') });
    expect(whole.choices[0]?.message.content).toContain('tool={"text":"Hello world"}');
    const tools = [{ type: 'function' as const, function: WEATHER }];
    const messages = user('use weather');
    const first = await client.chat.completions.create({ model: 'helper', messages, tools });
    const [choice] = first.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Oslo"}' } }] },
    });
    const result = { role: 'tool' as const, tool_call_id: choice?.message.tool_calls?.[0]?.id ?? '', content: 'rain' };
    const last = await client.chat.completions.create({
      model: 'helper',
      tools,
      messages: [...messages, choice?.message ?? expect.unreachable(), result],
    });
    expect(last.choices[0]?.message.content).toMatch(/tool=rain$/);
  });

  test('stream the calls of the caller’s tools so that the client can put them together', async () => {
    const stream = client.chat.completions.stream({
      model: 'helper',
      messages: user('use weather'),
      tools: [{ type: 'function', function: WEATHER }],
    });
    expect((await stream.finalChatCompletion()).choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Oslo"}' } }] },
    });
  });

  test('give an agent the earlier messages, and continue a session where one is named', async () => {
    const before = [...user('one'), { role: 'assistant' as const, content: 'two' }, ...user('three')];
    const whole = await client.chat.completions.create({ model: 'helper', messages: before });
    expect(whole.choices[0]?.message.content).toBe('I read: system=Help.|user=one|assistant=two|user=three');
    const options = { headers: { 'X-Session-Id': 's1' } };
    const answered = await client.chat.completions.create({ model: 'historian', messages: before });
    expect(answered.choices[0]?.message.content).toBe('caller: one\nagent: two');
    await client.chat.completions.create({ model: 'helper', messages: user('in session') }, options);
    const next = await client.chat.completions.create(
      { model: 'helper', messages: [...before, ...user('go on')] },
      options,
    );
    expect(next.choices[0]?.message.content).toBe(
      'I read: system=Help.|user=in session|assistant=I read: system=Help.|user=in session|user=go on',
    );
  });

  test('run a stored workflow with the inputs in the message', async () => {
    const model = 'workflow:greet';
    const completion = await client.chat.completions.create({ model, messages: user('{"mode":"work"}') });
    expect(completion).toMatchObject({ model });
    expect(completion.choices[0]?.message.content).toContain('Hello world');
    await expect(client.chat.completions.create({ model, messages: user('hello') })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('must be a JSON object with the inputs'),
    });
  });

  test('end the work when their reader leaves', async () => {
    const stream = await client.chat.completions.create({ model: 'worker', messages: user('hold'), stream: true });
    let id = '';
    for await (const chunk of stream) {
      id = chunk.id;
      if (chunk.choices[0]?.delta.content === 'begun') break;
    }
    await expect.poll(async () => (await client.responses.retrieve(id)).status, { timeout: 10_000 }).toBe('cancelled');
  });

  test('that are not streamed end the work too when their caller vanishes', async () => {
    const vanished = new AbortController();
    const first = client.chat.completions.create(
      { model: 'worker', messages: user('hold') },
      { signal: vanished.signal, headers: { 'X-Session-Id': 'vanishing' } },
    );
    const refused = expect(first).rejects.toThrow();
    const running = async () => {
      const answer = await call(system.url, { path: '/metrics', key: system.adminKey });
      return /dragoman_runs_running\{kind="request"\} (\d+)/.exec(await answer.text())?.[1];
    };
    await expect.poll(running, { timeout: 10_000 }).toBe('1');
    vanished.abort();
    await refused;
    await expect.poll(running, { timeout: 10_000 }).toBe('0');
  });

  test('show a question that a person has to answer', async () => {
    const stream = await client.chat.completions.create({ model: 'asker', messages: user('go'), stream: true });
    let text = '';
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (text.includes('dragoman questions answer')) break;
    }
    expect(text).toMatch(/May I\?/);
  });
});

describe('errors', () => {
  const failing = async (promise: Promise<unknown>): Promise<APIError> => {
    const error = await promise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof APIError)) throw new Error(`not an error of the API: ${String(error)}`);
    return error;
  };

  test.each([
    ['a wrong key', 'nonsense', 'echo', { status: 401, code: 'invalid_api_key', type: 'authentication_error' }],
    ['an agent without permission', bob.api_key, 'worker', { status: 403, type: 'permission_error' }],
    ['an unknown agent', ada.api_key, 'nobody', { status: 404, code: 'model_not_found' }],
  ])('of %s have the shape of OpenAI', async (_, key, name, expected) => {
    const error = await failing(clientOf(key).chat.completions.create({ model: name, messages: user('x') }));
    expect(error).toMatchObject(expected);
    expect(error.message).not.toContain('undefined');
  });

  test('name the member that is wrong', async () => {
    const messages = [{ role: 'nobody', content: 'x' }] as never;
    const error = await failing(client.chat.completions.create({ model: 'echo', messages }));
    expect(error).toMatchObject({ status: 400, param: 'messages.0.role', type: 'invalid_request_error' });
    expect(await failing(client.responses.create({ model: 'echo', input: 7 as never }))).toMatchObject({
      param: 'input',
    });
  });

  test('of an agent are an error, whole and streamed', async () => {
    const messages = user('fail');
    expect(await failing(client.chat.completions.create({ model: 'worker', messages }))).toMatchObject({ status: 502 });
    const stream = await client.chat.completions.create({ model: 'worker', messages, stream: true });
    const reading = (async () => {
      for await (const _ of stream);
    })();
    expect((await failing(reading)).message).toContain('it failed');
  });

  test.each([
    ['a body that is text', { headers: { 'content-type': 'text/plain' }, text: 'hello' }, 415, undefined],
    ['a body that is too large', { json: { model: 'echo', messages: user('x'.repeat(1 << 20)) } }, 413, undefined],
    ['a list', { json: [] }, 400, undefined],
    ['no model', { json: { messages: user('x') } }, 400, 'model'],
    ['a stream that is text', { json: { model: 'echo', messages: user('x'), stream: 'yes' } }, 400, 'stream'],
    ['two answers', { json: { model: 'echo', messages: user('x'), n: 2 } }, 400, 'n'],
    [
      'a session that is a number',
      { json: { model: 'echo', messages: user('x'), metadata: { session_id: 7 } } },
      400,
      'metadata.session_id',
    ],
  ])('of %s name what was expected', async (_, sent, status, param) => {
    const path = '/v1/chat/completions';
    const answer = await call(system.url, { method: 'POST', path, key: ada.api_key, ...sent });
    const { error } = (await answer.json()) as { error: { message: string; param: string | null } };
    expect([answer.status, error.param ?? undefined], error.message).toEqual([status, param]);
    expect(error.message).not.toMatch(/undefined|\n {4}at /);
  });

  test('of an answer that is read from a wrong place name the parameter', async () => {
    const { id } = await client.responses.create({ model: 'echo', input: 'x' });
    const reading = client.responses.retrieve(id, { stream: true, starting_after: 'x' as never });
    expect(await failing(reading)).toMatchObject({ status: 400, param: 'starting_after' });
    expect(await failing(client.responses.retrieve('resp_none'))).toMatchObject({ status: 404 });
  });

  test('report malformed JSON', async () => {
    const answer = await call(system.url, {
      method: 'POST',
      path: '/v1/chat/completions',
      key: ada.api_key,
      headers: { 'content-type': 'application/json' },
      text: '{"model":',
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'not_json' } }]);
  });
});

describe('responses', () => {
  test('answer whole, and continue from one another', async () => {
    const first = await client.responses.create({ model: 'helper', input: 'one', instructions: 'Brief.' });
    expect(first.output_text).toBe('I read: system=Help.|system=Brief.|user=one');
    expect(first).toMatchObject({ status: 'completed', usage: { input_tokens: 10, total_tokens: 15 } });
    const second = await client.responses.create({ model: 'helper', input: 'two', previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);
    expect(second.output_text).toBe(`I read: system=Help.|user=one|assistant=${first.output_text}|user=two`);
    await expect(
      client.responses.create({ model: 'helper', input: 'x', previous_response_id: 'resp_none' }),
    ).rejects.toMatchObject({ status: 404, param: 'previous_response_id' });
    await expect(
      clientOf(bob.api_key).responses.create({ model: 'echo', input: 'x', previous_response_id: first.id }),
    ).rejects.toMatchObject({ status: 404 });
  });

  test('stream events that the client can put together', async () => {
    const stream = client.responses.stream({ model: 'helper', input: 'hi' });
    const numbers: number[] = [];
    stream.on('event', (event) => numbers.push((event as { sequence_number: number }).sequence_number));
    const final = await stream.finalResponse();
    expect(final.output_text).toBe('I read: system=Help.|user=hi');
    expect(final.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(numbers).toEqual(numbers.map((_, index) => index));
  });

  test('give the caller its own tools to run, and take their results', async () => {
    const tools = [{ type: 'function' as const, ...WEATHER, strict: false }];
    const answer = await client.responses.create({ model: 'helper', input: 'use weather', tools });
    const functionCall = answer.output.find((item) => item.type === 'function_call') ?? expect.unreachable();
    expect(functionCall).toMatchObject({ name: 'weather', arguments: '{"city":"Oslo"}' });
    const input = [
      { role: 'user' as const, content: 'use weather' },
      functionCall,
      { type: 'function_call_output' as const, call_id: functionCall.call_id, output: 'rain' },
    ];
    expect((await client.responses.create({ model: 'helper', input, tools })).output_text).toMatch(/tool=rain$/);
  });

  test('are read again after any event, while they are given and after a crash', async () => {
    const background = await client.responses.create({ model: 'echo', input: 'a b c d', background: true });
    await expect.poll(async () => (await client.responses.retrieve(background.id)).status).toBe('completed');
    const eventsAfter = async (starting_after: number) => {
      const events = [];
      for await (const event of await client.responses.retrieve(background.id, { stream: true, starting_after })) {
        events.push(event);
      }
      return events;
    };
    const whole = await eventsAfter(-1);
    expect(whole.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    for (let after = 0; after < whole.length - 1; after++) {
      expect(await eventsAfter(after)).toEqual(whole.slice(after + 1));
    }
    await system.kill();
    await system.start(ENVIRONMENT);
    const again = new OpenAI({ apiKey: ada.api_key, baseURL: `${system.url}/v1`, maxRetries: 0 });
    const rest = [];
    for await (const event of await again.responses.retrieve(background.id, { stream: true, starting_after: 3 })) {
      rest.push(event);
    }
    expect(rest).toEqual(whole.slice(4));
  });

  test('that run can be cancelled, by their owner', async () => {
    const own = clientOf(ada.api_key);
    const running = await own.responses.create({ model: 'worker', input: 'hold', background: true });
    expect(running.status).toBe('in_progress');
    await expect(clientOf(bob.api_key).responses.cancel(running.id)).rejects.toMatchObject({ status: 404 });
    expect((await own.responses.cancel(running.id)).status).toBe('cancelled');
  });
});
