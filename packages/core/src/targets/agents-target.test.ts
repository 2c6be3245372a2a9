import { type JsonObject, newEnvelope } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { SilentLog } from '../../test-support/silent-log.ts';
import type { AgentPart } from '../agents/agent.ts';
import { NO_PERMISSIONS } from '../call/principal.ts';
import { agentsTarget } from './agents-target.ts';

const target = agentsTarget(() => [
  { id: 'echo', name: 'Echo', description: 'says it back', skills: ['echo'] },
  { id: 'secret' },
]);

async function answered(method: string | null, params: JsonObject, agents: readonly string[]) {
  const principal = { id: 'ada', kind: 'agent', permissions: { ...NO_PERMISSIONS, agents } } as const;
  const { signal } = new AbortController();
  const parts: AgentPart[] = [];
  for await (const part of target.answer(newEnvelope({ method, params }), { principal, signal, log: new SilentLog() }))
    parts.push(part);
  return parts[0];
}

test('agents.list names the agents that the caller may reach, and no others', async () => {
  const echo = { id: 'echo', name: 'Echo', description: 'says it back', skills: ['echo'] };
  const secret = { id: 'secret', name: 'secret', description: '', skills: [] };
  const list = (agents: readonly string[]) => answered('agents.list', {}, agents);
  expect(await list(['echo'])).toEqual({ part: 'complete', result: { agents: [echo] } });
  expect(await list(['*'])).toEqual({ part: 'complete', result: { agents: [echo, secret] } });
  expect(await list([])).toEqual({ part: 'complete', result: { agents: [] } });
});

test('agents.describe gives an agent that the caller may reach', async () => {
  expect(await answered('agents.describe', { id: 'echo' }, ['echo'])).toMatchObject({ result: { name: 'Echo' } });
});

test('an agent that the caller may not reach is as absent as one that does not exist', async () => {
  const refusal = (id: string) =>
    answered('agents.describe', { id }, ['echo']).catch((error) => ({ ...error.failure, message: '' }));
  expect(await refusal('secret')).toEqual(await refusal('nobody'));
  await expect(answered('agents.describe', { id: 'ecko' }, ['echo'])).rejects.toMatchObject({
    failure: { code: 'not_found', details: { suggestions: ['did you mean echo?'] } },
  });
});

test.each([['agents.remove'], ['constructor'], [null]])('the method %j is refused', async (method) => {
  await expect(answered(method, {}, ['*'])).rejects.toMatchObject({ failure: { code: 'unknown_method' } });
});
