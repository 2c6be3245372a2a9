import { expect, test, vi } from 'vitest';
import { toolEntry } from '../../test-support/configured.ts';
import { ALL_PERMISSIONS } from '../call/principal.ts';
import { GateBench } from '../gate/gate.contract.ts';
import type { OutboundRequest } from '../gate/gate.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { configuredTool, type ToolBackends } from './configured-tool.ts';
import { RunningTool } from './running-tool.ts';

function answered(status: number, type: string, bytes: Uint8Array, reader = new JsonReader()) {
  const gate = {
    request: async () => ({
      status,
      headers: type === '' ? {} : { 'content-type': type },
      body: (async function* () {
        yield bytes;
      })(),
    }),
  };
  const backends = { gate, reader } as unknown as ToolBackends;
  const tool = configuredTool(toolEntry({ name: 'get', http: { url: 'https://a.example/' } }), backends);
  return tool.run({}, new RunningTool({ id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS }));
}

const LATIN = Buffer.from('grün', 'latin1');

test.each([
  ['text/plain; charset=iso-8859-1', LATIN, 'grün'],
  ['text/html; charset="Shift_JIS"', Buffer.from([0x82, 0xa0]), 'あ'],
  ['text/plain', Buffer.from('grün'), 'grün'],
  ['', Buffer.from('\uFEFFgrün'), 'grün'],
  ['', Buffer.alloc(0), ''],
  ['application/problem+json', Buffer.from('{"a":1}'), { a: 1 }],
  ['Application/JSON; charset=iso-8859-1', Buffer.from('"grün"', 'latin1'), 'grün'],
  ['application/json', Buffer.from('[1000000000000000000000]'), [1e21]],
  ['application/json', Buffer.alloc(0), ''],
  ['application/jsonl', Buffer.from('1\n2'), '1\n2'],
])('an answer is read in the charset it names: %s', async (type, bytes, data) => {
  expect(await answered(200, type, bytes)).toEqual({ success: true, data });
});

test.each([
  ['image/png', Buffer.from([0x89, 0x50, 0xff]), 'image/png, which is neither JSON nor text'],
  ['text/plain', LATIN, 'text/plain, which is neither'],
  ['text/plain; charset=klingon', Buffer.from('x'), 'charset=klingon, which is neither'],
  ['', Buffer.from([0xff]), 'with bytes that are neither'],
])('an answer that is not text stays binary: %s', async (type, bytes, words) => {
  expect(await answered(200, type, bytes)).toMatchObject({
    success: false,
    errorCode: 'NOT_TEXT',
    error: expect.stringContaining(words),
  });
  expect(await answered(500, type, bytes)).toMatchObject({ success: false, errorCode: 'HTTP_500' });
});

test.each([
  ['{"a":', /^The endpoint sent the content type application\/json, but its body is invalid: /, '{"a":'],
  ['<html>', /but its body is invalid/, '<html>'],
  ['{"a":1,"a":2}', /"a"/, '{"a":1,"a":2}'],
  [Buffer.from([0x22, 0xff, 0x22]), /UTF-8/, '"\uFFFD"'],
])('an answer with a JSON type and invalid JSON is a failure: %s', async (body, error, data) => {
  expect(await answered(200, 'application/json', Buffer.from(body))).toMatchObject({
    success: false,
    errorCode: 'NOT_JSON',
    error: expect.stringMatching(error),
    data,
  });
  expect(await answered(502, 'application/json', Buffer.from(body))).toMatchObject({ errorCode: 'HTTP_502', data });
});

test.each([302, 304, 400])('a status of %s is not a success: the result is missing', async (status) => {
  expect(await answered(status, 'text/plain', Buffer.from('elsewhere'))).toMatchObject({
    success: false,
    errorCode: `HTTP_${status}`,
    data: 'elsewhere',
  });
});

test('a long answer is read in the thread', async () => {
  const reader = new JsonReader();
  const reading = vi.spyOn(reader, 'read');
  const data = { text: 'x'.repeat(300_000) };
  const read = await answered(200, 'application/json', Buffer.from(JSON.stringify(data)), reader);
  expect(read).toEqual({ success: true, data });
  expect(reading.mock.results).toMatchObject([{ value: expect.any(Promise) }]);
  await reader[Symbol.asyncDispose]();
});

test('the endpoint has half a minute and five mebibytes, and is let go when the call is given up', () => {
  const sent: OutboundRequest[] = [];
  const request = (one: OutboundRequest) => {
    sent.push(one);
    return new Promise(() => {});
  };
  const backends = { gate: { request } } as unknown as ToolBackends;
  const tool = configuredTool(toolEntry({ name: 'get', http: { url: 'https://a.example/' } }), backends);
  const running = new RunningTool({ id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS });
  void tool.run({}, running);
  expect(sent).toMatchObject([{ timeoutMs: 30_000, maxBytes: 5 * 1024 * 1024, signal: { aborted: false } }]);
  running.end(new Error('enough'));
  expect(sent[0]?.signal?.aborted).toBe(true);
});

test('an answer in a coding we do not know is an error, and not its bytes', async () => {
  await using bench = new GateBench();
  const port = await bench.serve((_, response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end('raw'));
  const backends = { gate: bench.open() } as unknown as ToolBackends;
  const tool = configuredTool(toolEntry({ name: 'get', http: { url: `http://127.0.0.1:${port}/` } }), backends);
  const running = tool.run({}, new RunningTool({ id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS }));
  await expect(running).rejects.toMatchObject({ failure: { code: 'agent_failed', details: { sent: true } } });
});
