import { expect, test } from 'vitest';
import { AnsweringAgents } from './answering-agents.ts';

test('agents of the configuration and of the administration are listed once each, as they answer', () => {
  const module = { driver: 'module' as const, module: './a.mjs' };
  const agents = { echo: { ...module, name: 'Echo' }, desk: { ...module, name: 'Desk' } };
  const administered = [
    { agent_id: 'caller-only', permissions: {} },
    { agent_id: 'desk', permissions: {}, ...module, name: 'Desk as it answers now' },
    { agent_id: 'added', permissions: {}, ...module },
  ];
  const find = (id: string) => administered.find(({ agent_id }) => agent_id === id);
  const answering = new AnsweringAgents(agents, { list: () => administered, find, changes: 3 });
  expect(['echo', 'desk', 'added', 'caller-only', 'nobody', 'toString'].filter((id) => answering.has(id))).toEqual([
    'echo',
    'desk',
    'added',
  ]);
  expect(answering.list().map(({ id, name }) => [id, name])).toEqual([
    ['echo', 'Echo'],
    ['desk', 'Desk as it answers now'],
    ['added', undefined],
  ]);
});

test('a changed configuration is another version, with its own agents', () => {
  const answering = new AnsweringAgents(
    { echo: { driver: 'module' } },
    { list: () => [], find: () => undefined, changes: 3 },
  );
  const { version } = answering;
  answering.configure({ desk: { driver: 'module' } });
  expect(answering.version).toBeGreaterThan(version);
  expect(answering.list().map(({ id }) => id)).toEqual(['desk']);
});
