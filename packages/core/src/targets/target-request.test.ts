import type { Json } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import type { BuiltInTarget } from '../call/target.ts';
import { targetRequest } from './target-request.ts';

const WORKFLOW = '{"type":"beginExecution"}';

test.each<[BuiltInTarget, Json, string, Json]>([
  ['tools', { tool: 'add', arguments: { a: 1 } }, 'add', { a: 1 }],
  ['tools', { tool: 'add' }, 'add', {}],
  ['tools', '{"tool":"add","arguments":{"a":1}}', 'add', { a: 1 }],
  ['workflows', { name: 'greet', inputs: { mode: 'x' } }, 'greet', { mode: 'x' }],
  ['workflows', { name: 'greet' }, 'greet', {}],
  [
    'workflows',
    { workflow: WORKFLOW, onError: 'continue' },
    'workflow.execute',
    { workflow: WORKFLOW, onError: 'continue' },
  ],
  ['agents', {}, 'agents.list', {}],
  ['agents', { describe: 'echo' }, 'agents.describe', { id: 'echo' }],
])('a message to %s with %j calls %s', (target, content, method, params) => {
  expect(targetRequest(target, content, '/message/content')).toEqual({ method, params });
});

test.each<[BuiltInTarget, Json]>([
  ['tools', 'add 1 and 2'],
  ['tools', { tool: 1 }],
  ['tools', { tool: 'add', arguments: [1] }],
  ['workflows', {}],
  ['workflows', { name: 'greet', inputs: 'x' }],
  ['workflows', ['greet']],
  ['agents', 'which agents exist?'],
])('a message to %s with %j is refused with the form that is expected', (target, content) => {
  expect(() => targetRequest(target, content, '/message/content')).toThrow(
    expect.objectContaining({
      failure: expect.objectContaining({
        code: 'invalid_message',
        message: expect.stringContaining(`message.content to "${target}" must be {`),
        details: { issues: [expect.objectContaining({ pointer: '/message/content' })] },
      }),
    }),
  );
});
