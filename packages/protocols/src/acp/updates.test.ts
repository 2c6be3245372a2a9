import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acpMessagesFor } from '../e2a/adapters/acp-projection.ts';
import { questionBody } from '../e2a/adapters/acp-question.ts';
import { respellAcp } from '../e2a/adapters/spelling.ts';
import { newEnvelope } from '../e2a/envelope.ts';
import { newProvenance } from '../e2a/provenance.ts';
import { QUESTION_KINDS, type Question } from '../e2a/question.ts';
import { questionEndBody } from '../e2a/read-question.ts';
import { type E2AResponse, newResponse, RESPONSE_KINDS } from '../e2a/response.ts';
import { FAILURES } from '../failure.ts';
import type { Json, JsonObject } from '../json.ts';
import { acpPromptParams, userBlocksOf } from './prompt.ts';
import { AcpUpdates } from './updates.ts';

// The official schema of protocol version 1 decides what is valid.
const require = createRequire(import.meta.url);
const schemaFile = require.resolve('@agentclientprotocol/sdk').replace(/\/dist\/.*/, '/schema/v1/schema.json');
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(JSON.parse(readFileSync(schemaFile, 'utf8')), 'acp');

function faults(name: string, value: unknown): unknown {
  const validate = ajv.getSchema(`acp#/$defs/${name}`);
  if (validate === undefined) throw new Error(`no schema ${name}`);
  return validate(value) ? [] : validate.errors;
}

/** Of a JSON-RPC message to a client that has sent a prompt. */
function messageFaults({ method, params, result, error }: JsonObject): unknown {
  if (error !== undefined) return faults('Error', error);
  if (method === undefined) return faults('PromptResponse', result);
  const names: Record<string, string> = {
    'session/update': 'SessionNotification',
    'session/request_permission': 'RequestPermissionRequest',
    'elicitation/create': 'CreateElicitationRequest',
  };
  const name = names[String(method)];
  return name === undefined ? `no schema for ${method}` : faults(name, params);
}

const chunk = (body: JsonObject): E2AResponse => newResponse({ response_kind: 'e2a.chunk', body });
const text = (delta: string) => chunk({ delta_kind: 'text', delta });
const tool = (delta: JsonObject) => chunk({ delta_kind: 'tool', delta });
const complete = (result: Json) =>
  newResponse({ response_kind: 'e2a.complete', is_final: true, status: 'succeeded', body: { result } });

/** The messages sent for these frames, each checked against the schema. */
function sent(...frames: E2AResponse[]) {
  return sentTo({}, ...frames);
}

/** The same to a client with these capabilities. */
function sentTo(client: JsonObject, ...frames: E2AResponse[]) {
  const converter = new AcpUpdates({ requestId: 'r1', client });
  const converted = frames.map((frame, sequence) => converter.convert({ ...frame, sequence }));
  const updates = converted.flatMap((one) => [...one.updates]);
  for (const update of updates) expect(faults('SessionNotification', { sessionId: 's1', update })).toEqual([]);
  for (const { question, end } of converted) {
    if (question !== undefined) {
      const { method, params } = questionBody(question, 's1') as { method: string; params: JsonObject };
      const name = method === 'elicitation/create' ? 'CreateElicitationRequest' : 'RequestPermissionRequest';
      expect(faults(name, respellAcp(params, 'camelCase'))).toEqual([]);
    }
    if (end !== undefined && 'result' in end) expect(faults('PromptResponse', end.result)).toEqual([]);
    if (end !== undefined && 'error' in end) expect(faults('Error', end.error)).toEqual([]);
  }
  const spoken = updates.flatMap(({ sessionUpdate, content }) =>
    sessionUpdate === 'agent_message_chunk' ? [String((content as JsonObject)['text'])] : [],
  );
  return { converted, updates, spoken: spoken.join(''), end: converted.at(-1)?.end };
}

describe('text', () => {
  test.each<[string, Json, string]>([
    ['the same as was streamed is not sent again', 'Hello world', 'Hello world'],
    ['a longer text is sent from where it continues', 'Hello world, and more', 'Hello world, and more'],
    ['nothing is nothing', {}, 'Hello world'],
    ['the last part of it is not sent again', 'world', 'Hello world'],
    ['something else is a message of its own', 'Bye', 'Hello worldBye'],
  ])('at the end: %s', (_, result, spoken) => {
    expect(sent(text('Hello '), text('world'), complete(result)).spoken).toBe(spoken);
  });

  test('of an answer in one frame is sent before its end', () => {
    expect(sent(complete({ content: 'all of it' }))).toMatchObject({
      spoken: 'all of it',
      end: { result: { stopReason: 'end_turn' } },
    });
  });

  test.each<[Json, string]>([
    [{ results: { sum: 5 }, usage: { used: 1 } }, '{"results":{"sum":5}}'],
    [[1, 2], '[1,2]'],
    [{ content: '' }, ''],
    [{ stop_reason: 'refusal' }, ''],
    [null, ''],
  ])('of a result that has none, %j, is its JSON', (result, spoken) => {
    expect(sent(complete(result)).spoken).toBe(spoken);
  });

  test('behind a tool call is a new message', () => {
    const { updates } = sent(text('a'), text('b'), tool({ id: 't', name: 'run' }), text('c'));
    expect(updates.map(({ messageId }) => messageId)).toEqual(['r1', 'r1', undefined, 'r1-1']);
  });

  test('of reasoning is a thought', () => {
    expect(sent(chunk({ delta_kind: 'reasoning', delta: 'hm' })).updates).toMatchObject([
      { sessionUpdate: 'agent_thought_chunk' },
    ]);
  });
});

describe('a tool', () => {
  test('is announced at first sight, with a status that ACP has', () => {
    const { updates } = sent(
      tool({ tool_call_id: 't1', tool: 'write_file', status: 'success', result: { bytes: 3 } }),
      tool({ tool_call_id: 't1', status: 'odd' }),
    );
    expect(updates).toMatchObject([
      { sessionUpdate: 'tool_call', toolCallId: 't1', kind: 'edit', status: 'completed', rawOutput: { bytes: 3 } },
      { sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'in_progress' },
    ]);
  });

  test('that an ACP agent called keeps its own words, and is announced first too', () => {
    const update = {
      sessionUpdate: 'tool_call_update',
      toolCallId: 't',
      status: 'completed',
      content: [
        { type: 'diff', path: '/a', newText: 'x', oldText: null },
        { type: 'terminal', terminalId: 'gone' },
      ],
    };
    const frame = {
      ...tool({ id: 't' }),
      provenance: newProvenance({ source_protocol: 'acp' }),
      projections: { acp: { method: 'session/update', params: { sessionId: 'theirs', update } } },
    };
    expect(sent(frame).updates).toEqual([
      {
        sessionUpdate: 'tool_call',
        title: 'tool',
        toolCallId: 't',
        status: 'completed',
        content: [{ type: 'diff', path: '/a', newText: 'x' }],
      },
    ]);
  });

  test('is announced before its permission is requested', () => {
    const question: Question = {
      question_id: 'q',
      kind: 'permission',
      title: 'Run make?',
      subject: { type: 'tool_call', tool_call_id: 't9', tool_kind: 'execute', input: { a: 1 } },
      options: [{ id: 'y', name: 'Yes', kind: 'allow_once' }],
      asked_at: '',
      expires_at: '',
    };
    const frame = newResponse({ response_kind: 'acp.output_request', body: questionBody(question, 's1') });
    const { updates, converted } = sent(frame, frame);
    expect(updates).toMatchObject([
      { sessionUpdate: 'tool_call', toolCallId: 't9', kind: 'execute', status: 'pending' },
    ]);
    expect(converted[0]?.question).toEqual(question);
  });

  test.each([
    ['answered', 'completed'],
    ['expired', 'failed'],
    ['withdrawn', 'failed'],
  ] as const)('that is only a question ends with it: %s', (state, status) => {
    const question: Question = {
      question_id: 'q',
      kind: 'permission',
      title: 'Go on?',
      options: [{ id: 'y', name: 'Yes', kind: 'allow_once' }],
      asked_at: '',
      expires_at: '',
    };
    const asked = newResponse({ response_kind: 'acp.output_request', body: questionBody(question, 's1') });
    const ended = chunk(questionEndBody({ question_id: 'q', state }));
    expect(sent(asked, ended, ended).updates).toMatchObject([
      { sessionUpdate: 'tool_call', toolCallId: 'q', status: 'pending' },
      { sessionUpdate: 'tool_call_update', toolCallId: 'q', status },
    ]);
  });
});

describe('updates that a client has to announce', () => {
  const updateOf = (update: JsonObject) => newResponse({ response_kind: 'acp.session_update', body: { update } });
  const notice = updateOf({ sessionUpdate: 'notice', severity: 'odd', title: 'Low on disk', description: null });
  const compaction = [
    updateOf({ sessionUpdate: 'compaction_update', compactionId: 'c1', status: 'in_progress', summary: null }),
    updateOf({ sessionUpdate: 'compaction_summary_chunk', compactionId: 'c1', content: { type: 'text', text: 'x' } }),
  ];

  test.each<[string, JsonObject, string[]]>([
    ['no client', {}, []],
    ['one that shows notices', { session: { notices: {} } }, ['notice']],
    [
      'one that shows both',
      { session: { notices: {}, compaction: {} } },
      ['notice', 'compaction_update', 'compaction_summary_chunk'],
    ],
  ])('are sent to %s', (_, client, kinds) => {
    const { updates } = sentTo(client, notice, ...compaction);
    expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(kinds);
  });
});

test('the usage that an answer ends with is an update where it counts against a size', () => {
  const { updates, end } = sent(complete({ text: 'Hi', usage: { used: 5, size: 100, model: 'm' } }));
  expect(updates).toMatchObject([{}, { sessionUpdate: 'usage_update', used: 5, size: 100 }]);
  expect(end).toMatchObject({ result: { _meta: { usage: { model: 'm' } } } });
  expect(sent(complete({ text: 'Hi', usage: { total_tokens: 5 } })).updates).toHaveLength(1);
});

test('a list of things to do is a plan', () => {
  const delta = { todos: [{ content: 'one', status: 'completed' }, { title: 'two' }, 7] };
  expect(sent(chunk({ delta_kind: 'custom', event_type: 'todo.updated', delta })).updates).toEqual([
    {
      sessionUpdate: 'plan',
      entries: [
        { content: 'one', priority: 'medium', status: 'completed' },
        { content: 'two', priority: 'medium', status: 'pending' },
      ],
    },
  ]);
});

test.each(Object.entries(FAILURES))('the failure %s is an error or an end that ACP has', (_, { e2a }) => {
  const body = { code: e2a, message: 'no', details: { retry_after: 3 } };
  const { end } = sent(newResponse({ response_kind: 'e2a.error', is_final: true, status: 'failed', body }));
  expect(end).toMatchObject(
    e2a === 'E2A.CANCELLED'
      ? { result: { stopReason: 'cancelled' } }
      : { error: { message: 'no', data: { e2a_code: e2a, request_id: 'r1', retry_after: 3 } } },
  );
});

describe('any stream of frames', () => {
  const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
  const word = fc.constantFrom('text', 'type', 'x', '', 'run_shell', 'completed', 'error', 't1', 't2');
  const members = fc.dictionary(
    fc.constantFrom('id', 'tool_call_id', 'status', 'title', 'name', 'kind', 'result', 'input', 'todos', 'event_type'),
    fc.oneof(word, value),
  );
  const update = fc.record({
    sessionUpdate: fc.constantFrom(
      ...['agent_message_chunk', 'tool_call', 'tool_call_update', 'plan', 'available_commands_update'],
      ...['current_mode_update', 'usage_update', 'notice', 'session_info_update', 'nothing_known', '__proto__'],
      ...['compaction_update', 'compaction_summary_chunk', 'config_option_update', 'user_message_chunk'],
    ),
    compactionId: fc.oneof(word, value),
    summary: fc.oneof(value, fc.array(value)),
    severity: fc.oneof(word, value),
    description: value,
    toolCallId: fc.oneof(word, value),
    content: fc.oneof(
      value,
      fc.record({ type: fc.constantFrom('text', 'image', 'resource', 'resource_link'), text: value, uri: value }),
      fc.array(fc.record({ type: fc.constantFrom('content', 'diff', 'terminal'), path: value, newText: value })),
    ),
    entries: fc.oneof(value, fc.array(members)),
    availableCommands: fc.oneof(value, fc.array(members)),
    locations: fc.array(fc.record({ path: fc.oneof(word, value), line: value })),
    status: value,
    kind: fc.oneof(word, value),
    title: value,
    used: value,
    size: value,
    _meta: value,
  });
  const option = fc.record({
    id: fc.string({ minLength: 1 }),
    name: fc.string({ minLength: 1 }),
    kind: fc.constantFrom('allow_once', 'reject_once', 'choice'),
  });
  const question = fc.record(
    {
      question_id: fc.uuid(),
      kind: fc.constantFrom(...QUESTION_KINDS),
      title: fc.string({ minLength: 1 }),
      description: fc.string(),
      options: fc.array(option, { minLength: 1 }),
      schema: fc.constant({ type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }),
      url: fc.webUrl(),
      asked_at: fc.constant('2026-03-28T12:00:00.000Z'),
      expires_at: fc.constant('2026-03-28T12:00:00.000Z'),
    },
    { requiredKeys: ['question_id', 'kind', 'title', 'asked_at', 'expires_at'] },
  ) as fc.Arbitrary<Question>;
  const frame: fc.Arbitrary<E2AResponse> = fc.oneof(
    fc
      .record({ delta_kind: fc.constantFrom('text', 'reasoning', 'tool', 'custom'), delta: fc.oneof(word, members) })
      .map(chunk),
    update.map((given) => newResponse({ response_kind: 'acp.session_update', body: { update: given as JsonObject } })),
    update.map((given) => ({
      ...text('x'),
      provenance: newProvenance({ source_protocol: 'acp' }),
      projections: { acp: { params: { update: given as JsonObject } } },
    })),
    question.map((given) => newResponse({ response_kind: 'acp.output_request', body: questionBody(given, 's1') })),
    question.map(({ question_id }) => chunk(questionEndBody({ question_id, state: 'expired' }))),
    fc
      .record({ kind: fc.constantFrom(...RESPONSE_KINDS), body: members, isFinal: fc.boolean() })
      .map(({ kind, body, isFinal }) => newResponse({ response_kind: kind, body, is_final: isFinal })),
    value.map(complete),
  );

  test('gives nothing that the official schema refuses', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), fc.boolean(), (frames, announces) => {
        sentTo(announces ? { session: { notices: {}, compaction: {} } } : {}, ...frames);
      }),
      { numRuns: 400 },
    );
  });

  test('gives nothing through the adapter of one frame that the official schema refuses', () => {
    const request = newEnvelope({ request_id: 'r1', jsonrpc_id: 1, method: 'session/prompt', session_id: 's1' });
    fc.assert(
      fc.property(frame, fc.nat(3), (given, sequence) => {
        for (const message of acpMessagesFor({ ...given, sequence, session_id: 's1', jsonrpc_id: 1 }, request)) {
          expect([message, messageFaults(message)]).toEqual([message, []]);
        }
      }),
      { numRuns: 400 },
    );
  });

  test('announces every tool before it changes, once', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), (frames) => {
        const known = new Set<unknown>();
        for (const { sessionUpdate: kind, toolCallId: id } of sent(...frames).updates) {
          if (kind === 'tool_call') expect(known.has(id)).toBe(false);
          if (kind === 'tool_call_update') expect(known.has(id)).toBe(true);
          if (kind === 'tool_call') known.add(id);
        }
      }),
    );
  });
});

describe('a prompt', () => {
  test('is text, blocks in both spellings, and files', () => {
    const prompt = [
      { type: 'text', text: 'look at' },
      { type: 'resource', resource: { uri: 'file:///a.md', text: '# A', mimeType: 'text/markdown' } },
      { type: 'resource_link', uri: 'file:///b.png', name: 'b.png', mimeType: 'image/png', size: 3 },
      { type: 'resource', resource: { uri: 'file:///c.bin', blob: 'AAAA', mimeType: 'x/y' } },
    ];
    const params = acpPromptParams(prompt);
    expect(params).toMatchObject({
      prompt,
      text: 'look at\n\nfile:///a.md\n# A',
      content: 'look at\n\nfile:///a.md\n# A',
      files: [
        { uri: 'file:///b.png', name: 'b.png', mime_type: 'image/png', size: 3 },
        { uri: 'data:x/y;base64,AAAA', name: 'c.bin', mime_type: 'x/y' },
      ],
    });
    expect((params['content_blocks'] as JsonObject[])[2]).toMatchObject({ mime_type: 'image/png' });
  });

  test('of any protocol can be shown to an ACP client', () => {
    expect(userBlocksOf({ content: 'hi' })).toEqual([{ type: 'text', text: 'hi' }]);
    expect(userBlocksOf(acpPromptParams([{ type: 'text', text: 'a' }]))).toEqual([{ type: 'text', text: 'a' }]);
    expect(userBlocksOf({})).toEqual([]);
  });
});
