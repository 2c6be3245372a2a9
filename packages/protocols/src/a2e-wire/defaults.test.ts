import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { completeMessage } from './defaults.ts';

test('a field that was left out gets the default of its schema', () => {
  expect(filled('shutdown', {})).toMatchObject({ timeout: 10 });
});

test('a field that is there stays, null and empty ones too', () => {
  expect(filled('skill/call/resp', { name: '', data: null, error: null })).toMatchObject({ name: '', data: null });
});

test('defaults are filled in deep inside lists', () => {
  const tools = [{ name: 'a', input_parameters: [{ name: 'x', type: 'string' }] }];
  expect(filled('tool/list/resp', { tools })).toMatchObject({
    tools: [{ version: '1.0.0', input_parameters: [{ required: false, enum: null }] }],
  });
});

test('a null where an object may stand is not filled', () => {
  const feedbacks = [{ polarity: 'positive', rated_turn: null }];
  expect(filled('learn/feedback/req', { feedbacks })).toMatchObject({ feedbacks: [{ rated_turn: null }] });
});

test('a type without defaults, or one we do not know, gets only the stamps', () => {
  const message = { type: 'lab/run', id: 'x', ts: 1, a: 1 };
  expect(completeMessage('lab/run', message)).toEqual({ a2e: '1.0', version: '1.0', ...message });
  expect(completeMessage('ping', { ...message, type: 'ping' })).toEqual({
    a2e: '1.0',
    version: '1.0',
    ...message,
    type: 'ping',
  });
});

test('base fields come first, then the fields of the type, then what else was sent', () => {
  const message = completeMessage('shutdown', { extra: 1, ts: 1, id: 'x', type: 'shutdown' });
  expect(Object.keys(message)).toEqual(['a2e', 'version', 'type', 'id', 'ts', 'timeout', 'extra']);
});

test('a complete message is not copied', () => {
  const parameter = { name: 'x', type: 'string', description: '', required: true, enum: null, properties: null };
  const first = filled('tool/list/resp', { req_id: 'r', tools: [{ name: 'a', input_parameters: [parameter] }] });
  expect(completeMessage('tool/list/resp', first as JsonObject)).toBe(first);
});

test('a message cannot change the shared defaults', () => {
  const { filter_tags } = filled('tool/list/req', {});
  expect(() => (filter_tags as string[]).push('x')).toThrow(TypeError);
  expect(filled('tool/list/req', {})).toMatchObject({ filter_tags: [] });
});

function filled(type: string, fields: JsonObject) {
  return completeMessage(type, { type, id: 'x', ts: 1, ...fields });
}
