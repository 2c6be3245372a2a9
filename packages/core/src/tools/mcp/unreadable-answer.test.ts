import { expect, test } from 'vitest';
import { answeredId } from './unreadable-answer.ts';

const idIn = (line: string) => answeredId(Buffer.from(line), Buffer.from(line));

test.each([
  ['as JSON-RPC has it', '{"jsonrpc":"2.0","id":"d7","result":{"a":NaN}}', 'd7'],
  ['by a number', '{ "jsonrpc" : "2.0" , "id" : 12 , "error" : {"code":NaN}}', 12],
  ['the id first', '{"id":"d7","jsonrpc":"2.0","result":{}', 'd7'],
  ['as the SDK for TypeScript writes it', '{"result":{"a":NaN},"jsonrpc":"2.0","id":"d7"}\r', 'd7'],
  ['the version last', '{"error":{"a":NaN},"id":0,"jsonrpc":"2.0"}', 0],
  ['after an invalid message', 'Ready.{"jsonrpc":"2.0","id":"d7","result":{}}', 'd7'],
  ['with bytes that are not text', '\ufffd{"result":"\ufffd","jsonrpc":"2.0","id":"d7"}', 'd7'],
])('an answer is recognized by its id: %s', (_, line, id) => {
  expect(idIn(line)).toBe(id);
});

test.each([
  ['is not JSON', 'this is not JSON'],
  ['has none', '{"jsonrpc":"2.0","result":{}}'],
  ['is a request', '{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}'],
  ['is a request as the SDK writes it', '{"method":"roots/list","params":{},"jsonrpc":"2.0","id":1}'],
  ['has it inside its result', '{"jsonrpc":"2.0","result":{"jsonrpc":"2.0","id":1,"result":{}}}'],
  ['has it in a text', '{"result":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1}"}'],
  ['has none that we would write', '{"jsonrpc":"2.0","id":"D 7","result":{}}'],
])('no id is found in text that %s', (_, line) => {
  expect(idIn(line)).toBeUndefined();
});

test('only the ends of a line are read, so that the length has no cost', () => {
  const long = ' '.repeat(4_096);
  expect(idIn(`${long}{"jsonrpc":"2.0","id":1,"result":{}}`)).toBeUndefined();
  expect(idIn(`{"result":{},"jsonrpc":"2.0","id":1${long}}`)).toBeUndefined();
});
