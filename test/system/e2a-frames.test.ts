import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { moduleAgent, System } from './system.ts';

const system = await System.start({
  config: { default_agent: 'echo', agents: { echo: moduleAgent('echo') }, log: { e2a: true } },
});
afterAll(() => system[Symbol.asyncDispose]());
const { api_key: key } = await system.caller('ada-agent');

async function ask(json: object, path = '/e2a'): Promise<JsonObject> {
  return (await (await call(system.url, { method: 'POST', path, key, json })).json()) as JsonObject;
}

test('a frame echoes source_agent_id and has the time of its conversion', async () => {
  const frame = await ask({ request_id: 'echoed', method: 'chat.send', params: { content: 'hello' } });
  expect(frame).toMatchObject({
    source_agent_id: 'ada-agent',
    provenance: { converter: 'dragoman', converted_at: frame['timestamp'] },
  });
});

test('log.e2a writes one line per response', async () => {
  await ask({ request_id: 'logged', method: 'chat.send', params: { content: 'hello' } });
  await expect.poll(() => system.log).toContain('"request_id":"logged"');
  const lines = system.log.split('\n').filter((line) => line.includes('"request_id":"logged"'));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      request_id: 'logged',
      sequence: 0,
      is_final: true,
      response_kind: 'e2a.complete',
      response_id: expect.any(String),
    },
  ]);
});

test('session/new and session/list speak one spelling', async () => {
  const made = await ask({ method: 'session/new', params: {} });
  const { sessionId } = (made['body'] as { result: JsonObject }).result;
  const listed = await ask({ method: 'session/list', params: {} });
  const { sessions } = (listed['body'] as { result: { sessions: JsonObject[] } }).result;
  expect(sessions.map((session) => session['sessionId'])).toContain(sessionId);
});

test('GET /agent with a key lists the agents that discovery lists', async () => {
  const agents = async (path: string) =>
    ((await (await call(system.url, { path, key })).json()) as { agents: JsonObject[] }).agents;
  expect((await agents('/agent')).map(({ id }) => id)).toEqual(['echo']);
  expect((await agents('/agents')).map(({ agent_card }) => (agent_card as JsonObject)['agent_id'])).toEqual(['echo']);
});
