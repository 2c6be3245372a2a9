import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { decodeChatCompletion, decodeCreateResponse } from './decode.ts';
import { type ChatDetails, chatAskOf, chatEnvelope, responseAskOf } from './to-envelope.ts';

const DETAILS: ChatDetails = {
  requestId: 'r1',
  sessionId: null,
  api: 'chat.completions',
  endsUnread: true,
  sourceAgentId: 'ada',
  now: new Date(0),
};

function chat(body: JsonObject, details: Partial<ChatDetails> = {}) {
  const decoded = decodeChatCompletion({ model: 'helper', ...body });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return chatEnvelope(chatAskOf(decoded.value), { ...DETAILS, ...details });
}

function response(body: JsonObject) {
  const decoded = decodeCreateResponse({ model: 'helper', ...body });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return chatEnvelope(responseAskOf(decoded.value), { ...DETAILS, api: 'responses', endsUnread: false }).params;
}

const given = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'one' },
  { role: 'assistant', content: 'two' },
  { role: 'user', content: 'three' },
];

describe('a chat completion', () => {
  test('asks with its last message of the user, and has all of them beside it', () => {
    const envelope = chat({ messages: given, user: 'u1', temperature: 0, tools: null, logprobs: true });
    expect(envelope).toMatchObject({
      request_id: 'r1',
      method: 'chat.send',
      agent_ref: { id: 'helper' },
      user_id: 'u1',
      source_agent_id: 'ada',
      channel: 'openai',
      is_stream: true,
      channel_context: { cancel_on_disconnect: true },
      provenance: { source_protocol: 'openai', details: { api: 'chat.completions' } },
    });
    expect(envelope.params).toEqual({ content: 'three', messages: given, options: { temperature: 0 } });
  });

  test('in a session has only what is new', () => {
    expect(chat({ messages: given }, { sessionId: 's1' }).params['messages']).toEqual([given[0], given[3]]);
  });

  test('keeps the result of a function that follows the last message of the user', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } };
    const messages = [
      ...given,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'rain' },
    ];
    expect(chat({ messages }, { sessionId: 's1' }).params['messages']).toEqual([messages[0], ...messages.slice(3)]);
  });

  test('brings pictures along, by their address or by their data', () => {
    const content = [
      { type: 'text', text: 'what is it?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
    ];
    expect(chat({ messages: [{ role: 'user', content }] }).params).toMatchObject({
      content: 'what is it?',
      content_blocks: [
        { type: 'text', text: 'what is it?' },
        { type: 'image', mime_type: 'image/png', data: 'aGk=' },
        { type: 'image', uri: 'https://example.com/cat.png' },
      ],
    });
  });

  test.each<[string, JsonObject, string]>([
    ['no model', { messages: given }, '/model'],
    ['no messages', { model: 'x' }, '/messages'],
    ['an empty list of messages', { model: 'x', messages: [] }, '/messages'],
    ['an unknown role', { model: 'x', messages: [{ role: 'boss', content: 'x' }] }, '/messages/0/role'],
    ['content that is a number', { model: 'x', messages: [{ role: 'user', content: 7 }] }, '/messages/0/content'],
    ['two answers', { model: 'x', messages: given, n: 2 }, '/n'],
    ['a flag that is text', { model: 'x', messages: given, stream: 'yes' }, '/stream'],
    ['tools that are no list', { model: 'x', messages: given, tools: {} }, '/tools'],
  ])('with %s is refused, and the member is named', (_, body, pointer) => {
    const decoded = decodeChatCompletion(body);
    expect(decoded.ok).toBe(false);
    expect(!decoded.ok && decoded.issues.map((issue) => issue.pointer)).toContain(pointer);
  });
});

describe('a response', () => {
  test('is requested in the terms of chat completions', () => {
    const input = [
      { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      { type: 'reasoning', summary: [] },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'rain' },
    ];
    const tools = [
      { type: 'function', name: 'weather', parameters: { type: 'object' }, strict: false },
      { type: 'web_search' },
    ];
    const tool_choice = { type: 'function', name: 'weather' };
    expect(response({ input, instructions: 'Brief.', tools, tool_choice, max_output_tokens: 9 })).toEqual({
      content: 'hi',
      messages: [
        { role: 'system', content: 'Brief.' },
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'rain' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' }, strict: false } }],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      options: { max_completion_tokens: 9 },
    });
  });

  test.each([[7], [{}], [[]], [null]])('with the input %j is refused', (input) => {
    expect(decodeCreateResponse({ model: 'x', input })).toMatchObject({ ok: false });
  });
});
