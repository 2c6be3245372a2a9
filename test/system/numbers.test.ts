import { afterAll, expect, test } from 'vitest';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

const system = await System.start({ config: { default_agent: 'echo', agents: { echo: moduleAgent('echo') } } });
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('counter-agent');
const NUMBERS = '{"content":"hello","zero":-0.0,"id":9007199254740993,"pi":3.14159265358979323846264338}';

function ask(text: string) {
  return call(system.url, { method: 'POST', path: '/e2a', key, text, headers: { 'content-type': 'application/json' } });
}

test('negative zero, 64-bit integers and long decimals in params are accepted', async () => {
  const answer = await ask(`{"request_id":"numbers","method":"chat.send","params":${NUMBERS}}`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ status: 'succeeded' });
});

test('a jsonrpc_id that a double cannot hold is refused by name', async () => {
  const answer = await ask('{"request_id":"r2","jsonrpc_id":9007199254740993,"method":"chat.send","params":{}}');
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('/jsonrpc_id');
});
