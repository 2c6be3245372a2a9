import { expect, test } from 'vitest';
import { answeringAgents } from './answering-agents.ts';

test('agents of the configuration and of the administration are told once each, as they answer', () => {
  const module = { driver: 'module' as const, module: './a.mjs' };
  const agents = { echo: { ...module, name: 'Echo' }, desk: { ...module, name: 'Desk' } };
  const administered = [
    { agent_id: 'caller-only', permissions: {} },
    { agent_id: 'desk', permissions: {}, ...module, name: 'Desk as it answers now' },
    { agent_id: 'added', permissions: {}, ...module },
  ];
  const found = answeringAgents({ agents }, { callers: { list: () => administered } });
  expect(found.map(({ id, name }) => [id, name])).toEqual([
    ['echo', 'Echo'],
    ['desk', 'Desk as it answers now'],
    ['added', undefined],
  ]);
});
