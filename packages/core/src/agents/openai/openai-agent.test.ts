import type { JsonObject } from '@dragoman/protocols';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../test-support/ports.ts';
import { type ModelScript, ScriptedModel } from '../../../test-support/scripted-model.ts';
import { systemClock } from '../../../test-support/system-clock.ts';
import type { Call } from '../../call/call.ts';
import type { DriverDefinition } from '../../callers/definition.ts';
import { callerTools } from '../../tools/caller-tools.ts';
import { toolFrom } from '../../tools/define-tool.ts';
import { FixedTools } from '../../tools/fixed-tools.ts';
import { ToolRegistry } from '../../tools/tool-registry.ts';
import { References } from '../../vault/references.ts';
import type { Agent, AgentPart } from '../agent.ts';
import { asking, eventually, failureIn, resultIn, TestContext } from '../call.contract.ts';
import { openAgent } from '../open-agent.ts';

let context: TestContext;
const opened: AsyncDisposable[] = [];

beforeEach(() => {
  context = new TestContext();
});
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

type Script = ModelScript | ((body: JsonObject) => ModelScript);

async function modelWith(...script: readonly Script[]): Promise<ScriptedModel> {
  const model = await ScriptedModel.start(...script);
  opened.push(model);
  return model;
}

async function agentOf(
  model: { readonly url: string },
  definition: Partial<DriverDefinition> = {},
  more: object = {},
): Promise<Agent> {
  const whole: DriverDefinition = { driver: 'openai', base_url: model.url, model: 'small', ...definition };
  const agent = await openAgent('helper', whole, { ...context, folder: '', ...more });
  opened.push(agent);
  return agent;
}

/** A call of a caller that may use these tools. */
function callWithTools(signal = new AbortController().signal): Call {
  const registry = new ToolRegistry({ clock: context.clock });
  const input = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } };
  registry.add(
    new FixedTools([
      toolFrom({ name: 'word.count', input, run: ({ text }) => ({ words: String(text).split(' ').length }) }),
      toolFrom({ name: 'secret', input, run: () => 'the secret' }),
      toolFrom({ name: 'long', input: { type: 'object' }, run: () => 'x'.repeat(200_000) }),
    ]),
  );
  const call = context.call(signal);
  return { ...call, tools: callerTools(registry, { principal: call.principal, signal, hops: 1 }) };
}

async function partsOf(agent: Agent, call: Call, params: JsonObject = { content: 'go' }): Promise<AgentPart[]> {
  const parts: AgentPart[] = [];
  for await (const part of agent.answer(asking('go', { params }), call)) parts.push(part);
  return parts;
}

function deltas(parts: readonly AgentPart[], kind: string) {
  return parts.flatMap((part) =>
    part.part === 'chunk' && part.body['delta_kind'] === kind ? [part.body['delta']] : [],
  );
}

describe('an answer', () => {
  test('is streamed, with its reasoning, and ends with the text and the tokens it took', async () => {
    const model = await modelWith({ reasoning: ['hm'], text: ['Hello', ' you'] });
    const agent = await agentOf(model, { instructions: 'Be brief.', parameters: { temperature: 0, stream: false } });
    const parts = await context.ask(agent, 'hi');
    expect(deltas(parts, 'reasoning')).toEqual(['hm']);
    expect(deltas(parts, 'text')).toEqual(['Hello', ' you']);
    expect(parts.at(-1)).toMatchObject({
      frame: {
        response_kind: 'e2a.complete',
        body: { result: { text: 'Hello you' }, usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } },
      },
    });
    expect(model.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      body: {
        model: 'small',
        temperature: 0,
        stream: true,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'hi' },
        ],
      },
    });
    expect(model.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('of a server that does not stream is accepted in one piece', async () => {
    const agent = await agentOf(await modelWith({ text: ['Hello'], whole: true }));
    const parts = await context.ask(agent, 'hi');
    expect(deltas(parts, 'text')).toEqual(['Hello']);
    expect(resultIn(parts)).toEqual({ text: 'Hello' });
  });

  test('that the model cut short has a stop reason', async () => {
    const agent = await agentOf(await modelWith({ text: ['Hel'], finish: 'length' }));
    expect(resultIn(await context.ask(agent, 'hi'))).toEqual({ text: 'Hel', stop_reason: 'max_tokens' });
  });

  test('continues the session it belongs to', async () => {
    const model = await modelWith({ text: ['three'] });
    const history = [
      { role: 'caller', content: 'one', request_id: 'a', timestamp: '' },
      { role: 'agent', content: { text: 'two' }, request_id: 'a', timestamp: '' },
      { role: 'caller', content: 'lost', request_id: 'b', timestamp: '' },
      { role: 'agent', content: { code: 'E2A.TIMEOUT', message: 'late' }, request_id: 'b', timestamp: '' },
    ] as const;
    const call = { ...context.call(), history: async () => history };
    const agent = await agentOf(model);
    for await (const _ of agent.answer(asking('go', { session_id: 's1' }), call));
    expect(model.messages(0)).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'lost' },
      { role: 'user', content: 'go' },
    ]);
  });

  test('shows the model the pictures that are sent along', async () => {
    const model = await modelWith({ text: ['a cat'] });
    const block = { type: 'image', data: 'aGk=', mime_type: 'image/png' };
    await partsOf(await agentOf(model), context.call(), {
      content: 'what is it?',
      content_blocks: [{ type: 'text', text: 'what is it?' }, block],
    });
    expect(model.messages(0)[0]?.['content']).toEqual([
      { type: 'text', text: 'what is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
    ]);
  });
});

describe('the key', () => {
  test('is sent as a bearer token, from the environment, and never shown', async () => {
    const refusing: ModelScript = {
      status: 401,
      body: '{"error":{"message":"Incorrect API key: sk-0123456789abcdef"}}',
    };
    const model = await modelWith(refusing);
    const references = new References({ environment: { MODEL_KEY: 'sk-0123456789abcdef' } });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference is written like this
    const agent = await agentOf(model, { key: '${MODEL_KEY}' }, { references });
    const parts = await context.ask(agent, 'hi');
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]?.headers.authorization).toBe('Bearer sk-0123456789abcdef');
    expect(failureIn(parts)?.message).toMatch(/^The model server answered with HTTP status 401: Incorrect API key/);
    expect(failureIn(parts)?.retryable).toBe(false);
    expect(JSON.stringify(parts)).not.toContain('0123456789abcdef');
  });
});

describe('tools', () => {
  test('that the operator names are called with the rights of the caller, and their results go to the model', async () => {
    const model = await modelWith(
      { text: ['Let me count.'], calls: [['word_count', { text: 'a b c' }]] },
      { text: ['Three.'] },
    );
    const parts = await partsOf(await agentOf(model, { tools: ['word.*'] }), callWithTools());
    expect(model.requests[0]?.body['tools']).toMatchObject([{ type: 'function', function: { name: 'word_count' } }]);
    expect(deltas(parts, 'tool')).toEqual([
      { tool_call_id: 'call_0', tool: 'word.count', status: 'in_progress', arguments: '{"text":"a b c"}' },
      { tool_call_id: 'call_0', tool: 'word.count', status: 'completed', result: { words: 3 } },
    ]);
    expect(model.messages(1).slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'Let me count.',
        tool_calls: [
          { id: 'call_0', type: 'function', function: { name: 'word_count', arguments: '{"text":"a b c"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_0', content: '{"words":3}' },
    ]);
    expect(resultIn(parts)).toEqual({ text: 'Let me count.Three.' });
    const last = parts.at(-1);
    expect(last?.part === 'frame' && last.frame.body?.['usage']).toMatchObject({ total_tokens: 30 });
  });

  test.each([
    ['arguments that are not JSON', 'word_count', '{"text":', /^Error: the arguments are not valid JSON/],
    ['arguments that do not fit', 'word_count', { text: 7 }, /^Error: .*text/s],
    ['a tool that does not exist', 'word_cuont', {}, /^Error: there is no tool "word_cuont"; use word_count$/],
    ['a tool that the agent does not have', 'secret', { text: 'x' }, /^Error: there is no tool "secret"/],
  ])('called with %s return an error that the model can act on', async (_, name, args, expected) => {
    const model = await modelWith({ calls: [[name, args]] }, { text: ['Sorry.'] });
    const parts = await partsOf(await agentOf(model, { tools: ['word.count'] }), callWithTools());
    expect(model.messages(1).at(-1)?.['content']).toMatch(expected);
    expect(deltas(parts, 'tool').at(-1)).toMatchObject({ status: 'failed' });
    expect(resultIn(parts)).toEqual({ text: 'Sorry.' });
  });

  test('return a limited amount of text to the model', async () => {
    const model = await modelWith({ calls: [['long', {}]] }, { text: ['ok'] });
    await partsOf(await agentOf(model, { tools: ['*'] }), callWithTools());
    const { content } = model.messages(1).at(-1) ?? {};
    expect(String(content)).toHaveLength(65_536 + '\n[cut: the result has 200000 characters]'.length);
  });

  test('called without end stop after max_turns', async () => {
    const model = await modelWith({ calls: [['word_count', { text: 'a' }]] });
    const parts = await partsOf(await agentOf(model, { tools: ['*'], max_turns: 3 }), callWithTools());
    expect(model.requests).toHaveLength(3);
    expect(failureIn(parts)).toMatchObject({
      code: 'agent_failed',
      retryable: false,
      message: 'The model called tools in 3 turns and gave no answer.',
    });
  });

  test('of the caller end the answer, so that the caller runs them', async () => {
    const model = await modelWith({ calls: [['weather', { city: 'Oslo' }]] });
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
    const parts = await partsOf(await agentOf(model, { tools: ['word.count'] }), callWithTools(), {
      content: 'go',
      tools,
    });
    expect(model.requests).toHaveLength(1);
    expect(resultIn(parts)).toMatchObject({ tool_calls: [{ id: 'call_0', function: { name: 'weather' } }] });
  });
});

describe('a model server', () => {
  test('that is busy is called again after the time it names', async () => {
    const busy: ModelScript = { status: 429, body: '{}', headers: { 'retry-after': '7' } };
    const model = await modelWith(busy, { text: ['now'] });
    const answer = context.ask(await agentOf(model), 'hi');
    await eventually(() => model.requests.length).toBe(1);
    await eventually(async () => {
      await context.clock.advance(3000);
      return model.requests.length;
    }).toBe(2);
    expect(resultIn(await answer)).toEqual({ text: 'now' });
    expect(context.clock.elapsed()).toBeGreaterThanOrEqual(7000);
  });

  test('that stays broken fails after three tries', async () => {
    const model = await modelWith({ status: 503, body: 'overloaded', type: 'text/plain' });
    const answer = context.ask(await agentOf(model), 'hi');
    await eventually(async () => {
      await context.clock.advance(1000);
      return model.requests.length;
    }).toBe(3);
    expect(failureIn(await answer)).toMatchObject({
      message: 'The model server answered with HTTP status 503: overloaded.',
      retryable: true,
    });
  });

  test('that does not run is reported as unreachable', async () => {
    const agent = await agentOf({ url: `http://127.0.0.1:${await freePort()}/v1` });
    const answer = context.ask(agent, 'hi');
    let isOver = false;
    void answer.finally(() => {
      isOver = true;
    });
    await eventually(async () => {
      await context.clock.advance(1000);
      return isOver;
    }).toBe(true);
    expect(failureIn(await answer)).toMatchObject({
      code: 'unreachable',
      message: 'The model server is unreachable: connection refused.',
    });
  });

  test('that stalls fails after the idle time', async () => {
    const model = await modelWith({ text: ['Hel'], after: 'hang' });
    const agent = await agentOf(model);
    const parts: AgentPart[] = [];
    const answer = (async () => {
      for await (const part of agent.answer(asking('hi'), context.call())) parts.push(part);
    })();
    await eventually(() => parts.length).toBe(1);
    await eventually(async () => {
      await context.clock.advance(300_000);
      return parts.length;
    }).toBe(2);
    await answer;
    expect(failureIn(parts)).toMatchObject({
      code: 'timeout',
      message: 'The model server sent nothing for 600000 ms.',
    });
    await eventually(() => model.left).toBe(1);
  });

  test.each<[string, ModelScript, RegExp]>([
    ['cuts its stream', { text: ['Hel'], after: 'cut' }, /its response was incomplete/],
    ['ends its stream early', { text: ['Hel'], after: 'end' }, /ended its answer before it was complete/],
    ['sends broken JSON', { body: 'data: {"choices":\n\n', type: 'text/event-stream' }, /an event that cannot be read/],
    ['sends a page', { body: '<html>', type: 'text/html' }, /answered with "text\/html"; expected text\/event-stream/],
    ['redirects', { body: '', status: 302, headers: { location: 'http://169.254.169.254/' } }, /redirect \(302\)/],
    [
      'reports an error in its stream',
      { body: 'data: {"error":{"message":"out of memory"}}\n\n', type: 'text/event-stream' },
      /reported an error: out of memory/,
    ],
    ['sends no JSON object', { body: '7', type: 'application/json' }, /ended its answer before it was complete/],
    ['sends an event of 9 MiB', { text: ['x'.repeat(9 * 1024 * 1024)] }, /an event that cannot be read/],
    ['never stops talking', { text: Array(18).fill('x'.repeat(MIB)) }, /more than 16777216 characters in one answer/],
    ['never stops thinking', { reasoning: Array(18).fill('x'.repeat(MIB)) }, /more than 16777216 characters/],
    ['calls tools without end in one answer', { calls: Array(33).fill(['x', {}]) }, /more than 32 tool calls at once/],
  ])('that %s ends the answer with the reason', async (_, script, expected) => {
    const parts = await context.ask(await agentOf(await modelWith(script)), 'hi');
    expect(failureIn(parts)?.code).toBe('agent_failed');
    expect(failureIn(parts)?.message).toMatch(expected);
  });

  test('is disconnected when the request is cancelled', async () => {
    const model = await modelWith({ text: ['Hel'], after: 'hang' });
    const agent = await agentOf(model, {}, { clock: systemClock });
    const over = new AbortController();
    const answer = (async () => {
      for await (const _ of agent.answer(asking('hi'), context.call(over.signal))) over.abort(new Error('enough'));
    })();
    await expect(answer).rejects.toThrow('enough');
    await eventually(() => model.left).toBe(1);
  });
});

const MIB = 1024 * 1024;

test.each([
  [{ base_url: undefined }, /the openai driver needs base_url/],
  [{ base_url: 'ftp://x' }, /base_url must start with http:\/\/ or https:\/\//],
  [{ model: undefined }, /the openai driver needs model/],
])('a definition that lacks something is refused when it is opened (%j)', async (definition, expected) => {
  const whole = { driver: 'openai', base_url: 'http://127.0.0.1:1/v1', model: 'm', ...definition };
  await expect(openAgent('helper', whole as DriverDefinition, { ...context, folder: '' })).rejects.toThrow(expected);
});
