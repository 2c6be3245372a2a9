import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeSurroundings } from '../test-support/fake-surroundings.ts';
import { temporaryFolder } from '../test-support/temporary-folder.ts';
import { type AgentFlags, agentDefinition } from './agent-options.ts';
import { troubleOf } from './trouble.ts';

function define(id: string | undefined, options: AgentFlags, { folder = '/here', stdin = '' } = {}) {
  const surroundings = new FakeSurroundings({ folder, stdin });
  return agentDefinition(id, options, { ...surroundings, terminal: surroundings.terminal, finish: () => {} });
}

test('a caller without a driver cannot be reached, and may call no agent by default', async () => {
  expect(await define('desk', {})).toEqual({ agent_id: 'desk', permissions: { agents: [] } });
});

test.each<[AgentFlags, object]>([
  [{ module: 'echo.mjs' }, { driver: 'module', module: '/here/echo.mjs' }],
  [{ agentUrl: 'https://a.example.com/e2a' }, { driver: 'http', url: 'https://a.example.com/e2a' }],
  [{ agentUrl: 'wss://a.example.com/ws' }, { driver: 'e2a-ws', url: 'wss://a.example.com/ws' }],
  [
    { command: 'node', arg: ['coder.mjs', '-v'] },
    { driver: 'stdio', command: 'node', args: ['coder.mjs', '-v'] },
  ],
])('its address determines the driver: %j', async (options, driver) => {
  expect(await define('coder', options)).toEqual({ agent_id: 'coder', permissions: { agents: [] }, ...driver });
});

test('the other options are passed on as given', async () => {
  const options = { mayCall: ['*'], name: 'Desk', description: 'helps', skill: ['help'], maxParallel: 2 };
  expect(await define('desk', options)).toEqual({
    agent_id: 'desk',
    permissions: { agents: ['*'] },
    name: 'Desk',
    description: 'helps',
    skills: ['help'],
    max_parallel: 2,
  });
});

test('two ways to be reached are one too many', async () => {
  const trouble = await define('x', { module: 'a.mjs', command: 'node' }).catch(troubleOf);
  expect(trouble).toMatchObject({ code: 'usage', exitCode: 2 });
});

test('a whole definition comes from a file or stdin; the name given beside it wins', async () => {
  const folder = temporaryFolder();
  const definition = { agent_id: 'one', permissions: { tools: ['*'] } };
  writeFileSync(join(folder, 'agent.json'), JSON.stringify(definition));
  expect(await define(undefined, { file: 'agent.json' }, { folder })).toEqual(definition);
  const stdin = JSON.stringify(definition);
  expect(await define('two', { file: '-' }, { stdin })).toEqual({ ...definition, agent_id: 'two' });
});

test.each(['{oops', '[1]'])('%j is not a definition', async (stdin) => {
  expect(await define(undefined, { file: '-' }, { stdin }).catch(troubleOf)).toHaveProperty('message');
});
