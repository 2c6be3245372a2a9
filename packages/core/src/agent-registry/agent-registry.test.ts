import type { AgentCard } from '@dragoman/protocols/a2a-messages';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import type { Clock } from '../ports/ports.ts';
import { AgentRegistry, STALE_MS } from './agent-registry.ts';

class SetClock implements Clock {
  /** The elapsed time; `set` is how far the wall clock was changed. */
  time = 1_000_000;
  set = 0;
  now = () => new Date(this.time + this.set);
  elapsed = () => this.time;
  wait = () => new Promise<void>(() => {});
  after = () => () => {};
}

function cardOf(agent_id: string, capabilities: string[], name = agent_id): AgentCard {
  return { agent_id, name, version: '1.0.0', description: '', capabilities, supported_protocols: ['A2A/1.0'] };
}

function open({ hosted = [] as AgentCard[], mostOwned = 1_000, clock = new SetClock(), store = memoryStore() } = {}) {
  let version = 0;
  const registry = new AgentRegistry({
    store: store.registrations,
    clock,
    hosted: {
      agents: () => hosted.map((card) => ({ card, endpoint: 'http://here/a2a/messages' })),
      version: () => version,
    },
    mostOwned,
    isTaken: (agentId, owner) => agentId === 'known-caller' && owner !== 'known-caller',
    names: () => ['known-caller'],
  });
  const find = (capabilities: string[], status: 'healthy' | 'unhealthy' | 'all' = 'healthy', limit = 100) => {
    const { agents, total } = registry.discover({ capabilities, status, limit });
    return { ids: agents.map(({ agentId }) => agentId), total };
  };
  return { registry, clock, store, find, hosted, changed: () => version++ };
}

const AT = 'https://agent.example.com/a2a';

describe('discovery', () => {
  test('requires all capabilities, sorts by name and then id, and counts beyond the limit', async () => {
    const { registry, find } = open();
    await registry.register('ada', cardOf('b-agent', ['read', 'write'], 'Same'), AT);
    await registry.register('ada', cardOf('a-agent', ['read', 'write'], 'Same'), AT);
    await registry.register('ada', cardOf('c-agent', ['read', 'write'], 'First'), AT);
    await registry.register('ada', cardOf('d-agent', ['read'], 'A reader'), AT);
    expect(find(['read', 'write'])).toEqual({ ids: ['c-agent', 'a-agent', 'b-agent'], total: 3 });
    expect(find(['write'], 'healthy', 2)).toEqual({ ids: ['c-agent', 'a-agent'], total: 3 });
    expect(find(['read', 'fly'])).toEqual({ ids: [], total: 0 });
    expect(find([]).total).toBe(4);
  });

  test('returns the same agents as a full scan', async () => {
    const { registry, find } = open();
    const wanted: string[] = [];
    for (let at = 0; at < 200; at++) {
      const capabilities = ['all', ...(at % 3 === 0 ? ['third'] : []), ...(at % 5 === 0 ? ['fifth'] : [])];
      const id = `agent-${String(at).padStart(3, '0')}`;
      if (at % 15 === 0) wanted.push(id);
      await registry.register('ada', cardOf(id, capabilities), AT);
    }
    expect(find(['third', 'fifth'])).toEqual({ ids: wanted, total: wanted.length });
    expect(find(['all', 'third', 'fifth', 'all', 'third'])).toEqual({ ids: wanted, total: wanted.length });
    expect(find(['third', 'fifth'], 'unhealthy').total).toBe(0);
    expect(find(['third', 'fifth'], 'all', 3)).toEqual({ ids: wanted.slice(0, 3), total: wanted.length });
    expect(find(['all'], 'all').total).toBe(200);
    expect(registry.stats()).toMatchObject({ total: 200, healthy: 200 });
    expect(registry.stats().capabilities.get('third')).toBe(67);
  });

  test('finds a capability that few of many agents have', async () => {
    const { registry, find } = open();
    for (let at = 0; at < 500; at++) {
      const odd = Array.from({ length: 20 }, (_, index) => `odd_${at}_${index}`);
      await registry.register('ada', cardOf(`agent-${at}`, ['all', ...(at < 40 ? ['some'] : []), ...odd]), AT);
    }
    expect(find(['odd_77_3', 'all'])).toEqual({ ids: ['agent-77'], total: 1 });
    expect(find(['odd_77_3', 'odd_78_3']).total).toBe(0);
    expect(find(['some', 'all']).total).toBe(40);
    expect(registry.stats().capabilities.get('odd_499_19')).toBe(1);
    expect(registry.stats().capabilities.get('some')).toBe(40);
  });
});

describe('health', () => {
  test('does not depend on the wall clock', async () => {
    const { registry, clock, store, find } = open();
    await registry.register('ada', cardOf('one-agent', ['read']), AT);
    for (const hours of [-26, 26]) {
      clock.set = hours * 3_600_000;
      expect(find(['read']).ids, `${hours} h`).toEqual(['one-agent']);
    }
    clock.set = -7_200_000;
    await registry.beat('ada', 'one-agent');
    clock.time += STALE_MS + 1;
    expect(find(['read']).ids).toEqual([]);
    // A process that starts with a clock set back counts the heartbeat as now, like every other process.
    clock.set = -3 * 3_600_000;
    const next = new AgentRegistry({
      store: store.registrations,
      clock,
      hosted: { agents: () => [], version: () => 0 },
      isTaken: () => false,
    });
    await next.load();
    expect(next.find('one-agent')?.isHealthy).toBe(true);
    clock.time += STALE_MS + 1;
    expect(next.find('one-agent')?.isHealthy).toBe(false);
  });

  test('is recorded once a second at most, however often an agent sends heartbeats', async () => {
    const { registry, clock, store } = open();
    await registry.register('ada', cardOf('one-agent', ['read']), AT);
    clock.time += 2_000;
    const lastBeat = await registry.beat('ada', 'one-agent');
    clock.time += 500;
    expect(await registry.beat('ada', 'one-agent')).toBe(lastBeat);
    expect((await store.registrations.list())[0]?.lastHeartbeat).toBe(lastBeat);
    clock.time += 500;
    expect(await registry.beat('ada', 'one-agent')).toBe(clock.time);
  });

  test('an agent is stale after 90 seconds without a beat, and a beat revives it', async () => {
    const { registry, clock, find } = open();
    await registry.register('ada', cardOf('one-agent', ['read']), AT);
    clock.time += STALE_MS;
    expect(find(['read'])).toEqual({ ids: ['one-agent'], total: 1 });
    expect([find([]).total, find([], 'unhealthy').total]).toEqual([1, 0]);
    clock.time += 1;
    expect(find(['read'])).toEqual({ ids: [], total: 0 });
    expect(find(['read'], 'unhealthy')).toEqual({ ids: ['one-agent'], total: 1 });
    expect([find([]).total, find([], 'unhealthy').total]).toEqual([0, 1]);
    expect(await registry.beat('ada', 'one-agent')).toBe(clock.time);
    expect(find(['read']).ids).toEqual(['one-agent']);
    expect(find(['read'], 'unhealthy').ids).toEqual([]);
  });

  test('registrations are kept over a restart, with the times of their heartbeats', async () => {
    const { registry, clock, store } = open();
    await registry.register('ada', cardOf('one-agent', ['read']), AT);
    clock.time += STALE_MS + 1;
    const next = new AgentRegistry({
      store: store.registrations,
      clock,
      hosted: { agents: () => [], version: () => 0 },
      isTaken: () => false,
    });
    await next.load();
    expect(next.find('one-agent')).toMatchObject({ isHealthy: false, owner: 'ada', endpoint: AT });
  });
});

describe('an id', () => {
  test('belongs to the caller that registered it first, to the caller of that name, or to this server', async () => {
    const { registry } = open({ hosted: [cardOf('our-agent', ['read'])] });
    await registry.register('ada', cardOf('one-agent', ['read']), AT);
    for (const taken of ['one-agent', 'known-caller', 'our-agent']) {
      await expect(registry.register('eve', cardOf(taken, ['read']), AT), taken).rejects.toThrow('belongs to another');
    }
    expect(await registry.beat('eve', 'one-agent')).toBeUndefined();
    expect(await registry.remove('eve', 'one-agent')).toBe(false);
    expect(await registry.remove('ada', 'one-agent')).toBe(true);
    await registry.register('eve', cardOf('one-agent', ['read']), AT);
  });

  test('goes to one of two callers that register it at once', async () => {
    const { registry } = open();
    const both = await Promise.allSettled([
      registry.register('ada', cardOf('one-agent', ['read']), AT),
      registry.register('eve', cardOf('one-agent', ['read']), AT),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(registry.find('one-agent')?.owner).toBe('ada');
  });

  test("that is a caller's own name can be taken over by that caller", async () => {
    const { registry } = open({ hosted: [cardOf('our-agent', ['read'])] });
    await registry.register('eve', cardOf('late-caller', ['read']), AT);
    await registry.register('late-caller', cardOf('late-caller', ['write']), AT);
    expect(registry.find('late-caller')).toMatchObject({ owner: 'late-caller', capabilities: ['write'] });
    expect(await registry.remove('eve', 'late-caller')).toBe(false);
    await expect(registry.register('our-agent', cardOf('our-agent', ['read']), AT)).rejects.toThrow('belongs to');
  });

  test('that differs from another only in the case of its letters is refused, and the error names the other', async () => {
    const { registry } = open({ hosted: [cardOf('our-agent', ['read'])] });
    await registry.register('ada', cardOf('one-agent', ['read']), AT);
    for (const [alike, other] of Object.entries({
      'One-Agent': 'one-agent',
      'OUR-agent': 'our-agent',
      'Known-Caller': 'known-caller',
    })) {
      for (const owner of ['ada', 'eve']) {
        await expect(registry.register(owner, cardOf(alike, ['read']), AT), alike).rejects.toMatchObject({
          failure: {
            code: 'forbidden',
            message: `The id "${alike}" differs from the existing id "${other}" only in upper and lower case; choose another.`,
          },
        });
      }
    }
    expect((await registry.register('ada', cardOf('one-agent', ['write']), AT)).isNew).toBe(false);
    await registry.remove('ada', 'one-agent');
    await registry.register('eve', cardOf('One-Agent', ['read']), AT);
    // A caller's own name stays its own, even if others have registered a similar one.
    await registry.register('one-agent', cardOf('one-agent', ['read']), AT);
  });

  test('in two spellings goes to one of two callers that register it at once', async () => {
    const { registry } = open();
    const both = await Promise.allSettled([
      registry.register('ada', cardOf('one-agent', ['read']), AT),
      registry.register('eve', cardOf('One-Agent', ['read']), AT),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  test('that was registered in two spellings before is kept in both, even if one of them is removed', async () => {
    const { clock, store, registry: before } = open();
    await before.register('ada', cardOf('one-agent', ['read']), AT);
    const [row] = await store.registrations.list();
    if (row === undefined) throw new Error('nothing is recorded');
    const card = JSON.stringify(cardOf('One-Agent', ['read']));
    await store.registrations.put({ ...row, agentId: 'One-Agent', owner: 'One-Agent', card });
    const { registry } = open({ clock, store });
    await registry.load();
    for (const [owner, id] of Object.entries({ ada: 'one-agent', 'One-Agent': 'One-Agent' })) {
      expect((await registry.register(owner, cardOf(id, ['write']), AT)).isNew).toBe(false);
      clock.time += 2_000;
      expect(await registry.beat(owner, id)).toBe(clock.time);
    }
    await registry.remove('ada', 'one-agent');
    await expect(registry.register('ada', cardOf('one-agent', ['read']), AT)).rejects.toThrow('"One-Agent"');
  });

  test('counts against the limit of its owner', async () => {
    const { registry } = open({ mostOwned: 2 });
    for (const id of ['one-agent', 'two-agent']) await registry.register('ada', cardOf(id, ['read']), AT);
    await expect(registry.register('ada', cardOf('three-agent', ['read']), AT)).rejects.toThrow('may register 2');
    await registry.register('ada', cardOf('two-agent', ['write']), AT);
    await registry.register('bob', cardOf('three-agent', ['read']), AT);
    await registry.remove('ada', 'one-agent');
    await registry.register('ada', cardOf('four-agent', ['read']), AT);
  });

  test('of an agent of this server needs no registration, is never stale, and is removed with the agent', () => {
    const { find, clock, hosted, changed } = open({ hosted: [cardOf('our-agent', ['read'])] });
    clock.time += 10 * STALE_MS;
    expect(find(['read']).ids).toEqual(['our-agent']);
    hosted.pop();
    changed();
    expect(find(['read']).ids).toEqual([]);
  });
});
