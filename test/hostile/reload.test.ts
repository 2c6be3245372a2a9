import { afterAll, expect, test } from 'vitest';
import { call } from '../system/call.ts';
import { fresh } from '../system/caller.ts';
import { Served } from '../system/served.ts';
import { moduleAgent } from '../system/system.ts';

const FILE = `port: 0
default_agent: echo
agents:
  echo: ${JSON.stringify(moduleAgent('echo'))}
`;
const served = await Served.start(() => ({ port: 0, default_agent: 'echo', agents: { echo: moduleAgent('echo') } }));
afterAll(() => served[Symbol.asyncDispose]());
const key = await served.caller('ada-agent');

test.each([
  ['that is empty', ''],
  ['that has only comments', '# saved by a script\n'],
  ['that was cut off before its agents', FILE.slice(0, FILE.indexOf('agents:'))],
  ['that was cut off at its agents', FILE.slice(0, FILE.indexOf('  echo:'))],
])('a reload of a file %s is refused, and the running configuration stays', async (_, text) => {
  const from = served.log.length;
  served.write(text);
  served.signal('SIGHUP');
  await expect.poll(() => served.log.slice(from)).toContain('Reload failed; keeping the running configuration');
  expect(served.log.slice(from)).toMatch(/removes every agent|agents must be/);
  expect((await ask()).status).toBe(200);
});

test('a file without agents that has a version line is complete', async () => {
  served.write('port: 0\nversion: 1\n');
  served.signal('SIGHUP');
  expect(await served.event('reloaded')).toMatchObject({ changed: ['agents', 'default_agent'], waiting: [] });
  expect((await ask()).status).toBe(404);
});

function ask() {
  const json = { request_id: fresh(), params: { content: 'hello' } };
  return call(served.url, { method: 'POST', path: '/e2a/agents/echo', key, json });
}
