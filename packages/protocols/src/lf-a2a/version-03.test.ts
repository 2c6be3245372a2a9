import { expect, test } from 'vitest';
import { decodeA2aRequest } from './decode.ts';
import { operationOf, requestedVersion } from './operations.ts';
import { eventTo03, paramsFrom03 } from './version-03.ts';

test('a message of 0.3 is read as the message of 1.0 that it is', () => {
  const params = paramsFrom03('SendMessage', {
    message: {
      kind: 'message',
      messageId: 'm',
      role: 'user',
      parts: [
        { kind: 'text', text: 'look' },
        { kind: 'file', file: { bytes: 'aGk=', name: 'a.txt', mimeType: 'text/plain' }, metadata: { kind: 'kept' } },
        { kind: 'data', data: { kind: 'kept too' } },
      ],
    },
    configuration: { blocking: false, acceptedOutputModes: ['text/plain'] },
  });
  expect(decodeA2aRequest('SendMessage', params)).toMatchObject({ ok: true });
  expect(params).toEqual({
    message: {
      messageId: 'm',
      role: 'ROLE_USER',
      parts: [
        { text: 'look' },
        { raw: 'aGk=', filename: 'a.txt', mediaType: 'text/plain', metadata: { kind: 'kept' } },
        { data: { kind: 'kept too' } },
      ],
    },
    configuration: { returnImmediately: true, acceptedOutputModes: ['text/plain'] },
  });
});

test('the last status of a stream is final in 0.3, and data is always an object', () => {
  const status = { state: 'TASK_STATE_INPUT_REQUIRED' } as const;
  expect(eventTo03({ statusUpdate: { taskId: 't', contextId: 'c', status } })).toEqual({
    kind: 'status-update',
    taskId: 't',
    contextId: 'c',
    status: { state: 'input-required' },
    final: true,
  });
  const artifact = { artifactId: 'a', parts: [{ data: [1, 2] }] };
  const update = { taskId: 't', contextId: 'c', artifact, append: false, lastChunk: true };
  expect(eventTo03({ artifactUpdate: update })).toMatchObject({
    kind: 'artifact-update',
    artifact: { parts: [{ kind: 'data', data: { value: [1, 2] } }] },
  });
});

test.each([
  [undefined, '0.3'],
  ['', '0.3'],
  ['1.0', '1.0'],
  ['1.0.7', '1.0'],
  ['0.3.0', '0.3'],
  ['2.0', undefined],
  ['one', undefined],
])('A2A-Version %j asks for %s', (header, version) => {
  expect(requestedVersion(header)).toBe(version);
});

test('a JSON-RPC method determines the version', () => {
  expect(operationOf('SendMessage')).toEqual({ operation: 'SendMessage', version: '1.0' });
  expect(operationOf('message/send')).toEqual({ operation: 'SendMessage', version: '0.3' });
  expect(operationOf('toString')).toBeUndefined();
});

test.each([
  ['no part', { parts: [] }, '/message/parts'],
  ['a part without content', { parts: [{}] }, '/message/parts/0'],
  ['a part with two contents', { parts: [{ text: 'a', url: 'b' }] }, '/message/parts/0'],
  ['the role of an agent', { role: 'ROLE_AGENT' }, '/message/role'],
  ['no id', { messageId: undefined }, '/message/messageId'],
])('a message with %s is refused', (_, change, pointer) => {
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }], ...change };
  const outcome = decodeA2aRequest('SendMessage', JSON.parse(JSON.stringify({ message })));
  if (outcome.ok) expect.unreachable();
  expect(outcome.issues.map((issue) => issue.pointer)).toEqual([pointer]);
});
