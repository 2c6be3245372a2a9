import type { DiscoverAgentsMessage } from '@dragoman/protocols/a2a-messages';
import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { AgentRegistry, STALE_MS } from '../agent-registry/agent-registry.ts';
import { announcement } from './announcement.ts';

const clock = new TestClock();
const registry = new AgentRegistry({
  store: memoryStore().registrations,
  clock,
  hosted: { agents: () => [], version: () => 0 },
  isTaken: () => false,
});

test.each([
  ['healthy', undefined, ['quick-agent'], 1],
  ['healthy', { status: 'healthy' }, ['quick-agent'], 1],
  ['unhealthy', { status: 'unhealthy' }, ['gone-agent'], 1],
  ['all', { status: 'all' }, ['gone-agent', 'quick-agent'], 2],
  ['all, limited to the requested number', { status: 'all', max_results: 1 }, ['gone-agent'], 2],
] as const)('a query gets %s agents by the filters %j', async (_, filters, ids, total) => {
  await register('gone-agent');
  clock.pass(STALE_MS + 1);
  await register('quick-agent');
  const query: DiscoverAgentsMessage = {
    message_id: 'a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40',
    message_type: 'discover_agents',
    sender_id: 'ada-agent',
    recipient_id: 'registry',
    timestamp: clock.now().toISOString(),
    payload: { capabilities: ['read'], ...(filters !== undefined && { filters }) },
    correlation_id: null,
  };
  const answer = announcement(query, registry, {
    stamp: { id: 'f'.repeat(32), now: clock.now() },
    elapsed: () => clock.elapsed(),
  });
  expect(answer).toMatchObject({
    sender_id: 'registry',
    recipient_id: 'ada-agent',
    correlation_id: query.message_id,
    payload: { total_count: total },
  });
  expect(answer.payload.agents.map(({ agent_id }) => agent_id)).toEqual(ids);
});

async function register(agent_id: string): Promise<void> {
  const more = { version: '1.0.0', description: '', capabilities: ['read'], supported_protocols: ['A2A/1.0'] };
  await registry.register('ada', { agent_id, name: agent_id, ...more }, 'https://agent.example.com/a2a');
}
