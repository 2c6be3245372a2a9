import type { JsonObject } from '@dragoman/protocols';
import type { MemoryEntry } from '@dragoman/protocols/a2e-wire';
import { expect, test } from 'vitest';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { ALL_PERMISSIONS } from '../../call/principal.ts';
import { Ending } from '../../ending/ending.ts';
import type { WireSession } from '../wire/plugin.ts';
import { lexicalSearch } from './lexical-search.ts';
import { Memories, type MemoryQuery } from './memories.ts';
import type { Search } from './search.ts';

const clock = new TestClock();
const store = memoryStore();
const memories = new Memories({
  store: store.memories,
  search: lexicalSearch,
  clock,
  quota: { entries: 4, size: 10_000, spaces: 16 },
});

function sessionOf(id: string): WireSession {
  const principal = { id, kind: 'agent', permissions: ALL_PERMISSIONS } as const;
  return { id: `session of ${id}`, principal, closed: new AbortController().signal, push: () => {} };
}

function entry(key: JsonObject, content: string, more: Partial<MemoryEntry> = {}): MemoryEntry {
  return { key, content, tier: 'episodic', tags: [], source: '', score: 1, ttl: 0, ...more };
}

const ALL: MemoryQuery = { keys: [], query: '', tags: [], tier: '', limit: 10, minScore: 0 };
const found = async (session: WireSession, id: string, wanted: Partial<MemoryQuery> = {}) =>
  (await memories.retrieve(session, id, { ...ALL, ...wanted })).entries.map(({ content }) => content);

test('a key is the same when its members are, whatever their order', async () => {
  const ann = sessionOf('ann-keys');
  const id = await memories.open(ann, 'default', {});
  expect(await memories.open(ann, 'default', {})).toBe(id);
  await memories.store(ann, id, [entry({ a: 1, b: { c: 2, d: 3 } }, 'old')]);
  await memories.store(ann, id, [entry({ b: { d: 3, c: 2 }, a: 1 }, 'new')]);
  expect(await found(ann, id)).toEqual(['new']);
  expect(await found(ann, id, { keys: [{ a: 1, b: { c: 2, d: 3 } }] })).toEqual(['new']);
  expect(await found(ann, id, { keys: [{ a: 1 }] })).toEqual([]);
});

test.each(['name\0space', 'n'.repeat(513)])('an invalid namespace is refused', async (namespace) => {
  const opened = memories.open(sessionOf('ann-names'), namespace, {});
  await expect(opened).rejects.toMatchObject({ failure: { code: 'invalid_message' } });
});

test('memories belong to their agent; semantic ones are shared, and only their author may change them', async () => {
  const [ann, bob] = [sessionOf('ann-own'), sessionOf('bob-own')];
  const [hers, his] = [await memories.open(ann, 'shared', {}), await memories.open(bob, 'shared', {})];
  expect(hers).not.toBe(his);
  await memories.store(ann, hers, [entry({ k: 1 }, 'mine'), entry({ k: 1 }, 'ours', { tier: 'semantic' })]);
  expect(await found(bob, his)).toEqual(['ours']);
  const { stored, errors } = await memories.store(bob, his, [entry({ k: 1 }, 'taken over', { tier: 'semantic' })]);
  expect(stored).toEqual([]);
  expect(errors).toEqual(['{"k":1}: another agent stored it, and it alone may change it']);
  expect(await memories.forget(bob, his, { keys: [], tags: [], all: true, tier: 'semantic' })).toBe(0);
  await expect(memories.retrieve(bob, hers, ALL)).rejects.toMatchObject({ code: 'memory_not_found' });
});

test('a thousand entries are added to a thousand in no time to speak of', async () => {
  const large = new Memories({ store: store.memories, search: lexicalSearch, clock });
  const ann = sessionOf('ann-many');
  const id = await large.open(ann, 'many', {});
  const entries = Array.from({ length: 1000 }, (_, k) => entry({ k }, 'x'.repeat(3900), { tier: 'working' }));
  const before = process.cpuUsage();
  for (let times = 0; times < 2; times++) expect((await large.store(ann, id, entries)).errors).toEqual([]);
  // Of the processor, which others may have in the meantime. With every character counted again for each entry it would be half a minute.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(3000);
});

test('a connection has working memory in sixteen namespaces, and can continue to use those', async () => {
  const ann = sessionOf('ann-spaces');
  const ids = await Promise.all(Array.from({ length: 17 }, (_, at) => memories.open(ann, `space-${at}`, {})));
  const now = [entry({ k: 1 }, 'now', { tier: 'working' })];
  for (const id of ids.slice(0, 16)) expect((await memories.store(ann, id, now)).errors).toEqual([]);
  const [first = '', last = ''] = [ids[0], ids[16]];
  expect(await memories.store(ann, last, now)).toEqual({
    stored: [],
    errors: ['{"k":1}: memory_full: 16 namespaces and scopes have working memory on this connection'],
  });
  expect((await memories.store(ann, first, now)).errors).toEqual([]);
  expect((await memories.store(ann, last, [entry({ k: 1 }, 'kept')])).errors).toEqual([]);
});

test('working memory ends with the connection', async () => {
  const first = sessionOf('ann-working');
  const id = await memories.open(first, 'default', {});
  await memories.store(first, id, [entry({ k: 1 }, 'now', { tier: 'working' }), entry({ k: 1 }, 'kept')]);
  expect(await found(first, id)).toEqual(['now', 'kept']);
  expect(await found(sessionOf('ann-working'), id)).toEqual(['kept']);
});

test('words, tags and the least score narrow what is found', async () => {
  const ann = sessionOf('ann-search');
  const id = await memories.open(ann, 'default', { project: 'x' });
  await memories.store(ann, id, [
    entry({ k: 1 }, 'the cat sat on the mat', { tags: ['pets'] }),
    entry({ k: 2 }, 'invoices are due on friday', { tags: ['work', 'money'] }),
    entry({ k: 3 }, 'the cat owes an invoice', { tags: ['pets', 'money'] }),
  ]);
  expect((await found(ann, id, { query: 'cat invoice' }))[0]).toBe('the cat owes an invoice');
  expect(await found(ann, id, { query: 'invoice' })).toHaveLength(2);
  expect(await found(ann, id, { tags: ['work', 'nothing'] })).toEqual(['invoices are due on friday']);
  const { entries, total } = await memories.retrieve(ann, id, { ...ALL, query: 'cat', limit: 1 });
  expect([entries.length, total]).toEqual([1, 2]);
  expect(await found(ann, id, { query: 'cat invoice', minScore: 0.99 })).toEqual(['the cat owes an invoice']);
});

test('an entry is deleted after its time to live, and a full memory reports it', async () => {
  const ann = sessionOf('ann-full');
  const id = await memories.open(ann, 'default', {});
  const many = [1, 2, 3, 4].map((k) => entry({ k }, `entry ${k}`, { ttl: k === 1 ? 10 : 0 }));
  expect((await memories.store(ann, id, many)).errors).toEqual([]);
  const { errors } = await memories.store(ann, id, [entry({ k: 5 }, 'one too many')]);
  expect(errors).toEqual([expect.stringMatching(/memory_full: .* are there; memory\/forget\/req makes room$/)]);
  clock.pass(10_000);
  expect(await found(ann, id)).not.toContain('entry 1');
  expect((await memories.store(ann, id, [entry({ k: 5 }, 'room again')])).errors).toEqual([]);
  expect(await memories.forget(ann, id, { keys: [{ k: 5 }], tags: [], all: false, tier: 'episodic' })).toBe(1);
  const large = entry({ k: 6 }, 'x'.repeat(70_000));
  expect((await memories.store(ann, id, [large])).errors[0]).toContain('65536 characters');
});

test('an agent keeps as much as sixteen full namespaces hold, in however many it is', async () => {
  const ann = sessionOf('ann-whole');
  const keep = async (namespace: string, k: number) =>
    (await memories.store(ann, await memories.open(ann, namespace, {}), [entry({ k }, 'kept')])).errors;
  for (let at = 0; at < 64; at++) expect(await keep(`space-${at}`, at)).toEqual([]);
  expect(await keep('space-64', 64)).toEqual([
    '{"k":64}: memory_full: 64 entries or 160000 characters are there in all your namespaces; memory/forget/req makes room',
  ]);
  expect(
    await memories.forget(ann, await memories.open(ann, 'space-7', {}), {
      keys: [],
      tags: [],
      all: true,
      tier: 'episodic',
    }),
  ).toBe(1);
  expect(await keep('space-64', 64)).toEqual([]);
});

test('a query has an end', async () => {
  const ann = sessionOf('ann-query');
  const id = await memories.open(ann, 'default', {});
  const message = 'query may have 1000 characters; it has 1001';
  await expect(found(ann, id, { query: 'x'.repeat(1001) })).rejects.toThrow(message);
  expect(await found(ann, id, { query: 'x'.repeat(1000) })).toEqual([]);
});

test('an aborted request stores nothing more: it could replace a later entry', async () => {
  const ann = sessionOf('ann-enough');
  const id = await memories.open(ann, 'default', {});
  const ending = new Ending();
  const stored = memories.store(ann, id, Array(1000).fill(entry({ k: 1 }, 'old')), ending);
  await new Promise((resolve) => setImmediate(resolve));
  ending.end(new Error('enough'));
  await expect(stored).rejects.toThrow('enough');
  await memories.store(ann, id, [entry({ k: 1 }, 'new')]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await found(ann, id)).toEqual(['new']);
});

test('others have their turn while as many entries or keys as a message has room for are looked at', async () => {
  const ann = sessionOf('ann-turns');
  const id = await memories.open(ann, 'default', {});
  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  await memories.store(ann, id, Array(20_000).fill(entry({ k: 1 }, 'now', { tier: 'working' })));
  expect(turns).toBeGreaterThan(10);
  turns = 0;
  expect(await found(ann, id, { keys: Array(50_000).fill({ k: 1 }) })).toEqual(['now']);
  expect(turns).toBeGreaterThan(10);
  clearInterval(counting);
});

// Each tag against each would be 96,000,000,000 comparisons, and the server would not respond for minutes.
test('two hundred thousand tags are looked for in no time to speak of', async () => {
  const large = new Memories({ store: memoryStore().memories, search: lexicalSearch, clock });
  const ann = sessionOf('ann-tags');
  const id = await large.open(ann, 'default', {});
  const tags = Array.from({ length: 8_000 }, (_, n) => `a${n}`);
  const entries = Array.from({ length: 60 }, (_, k) => entry({ k }, 'x', { tags }));
  expect((await large.store(ann, id, entries)).errors).toEqual([]);
  const wanted = Array.from({ length: 200_000 }, (_, n) => `b${n}`);
  expect((await large.retrieve(ann, id, { ...ALL, tags: wanted })).total).toBe(0);
  expect(await large.forget(ann, id, { keys: [], tags: wanted, all: false, tier: 'episodic' })).toBe(0);
  expect(await large.forget(ann, id, { keys: [], tags: [...wanted, 'a7'], all: false, tier: 'episodic' })).toBe(60);
});

test('a caller looks for one thing after the other, and for nothing it has given up; others do not wait for it', async () => {
  const queries: string[] = [];
  const answers = new Map<string, () => void>();
  const search: Search = {
    rank: (query) => {
      queries.push(query);
      return new Promise((resolve) => answers.set(query, () => resolve([])));
    },
  };
  const careful = new Memories({ store: memoryStore().memories, search, clock });
  const [ann, bob] = [sessionOf('ann-looks'), sessionOf('bob-looks')];
  const [hers, his] = [await careful.open(ann, 'default', {}), await careful.open(bob, 'default', {})];
  const given = new Ending();
  const look = (session: WireSession, id: string, query: string, stop?: Ending) =>
    careful.retrieve(session, id, { ...ALL, query }, stop);
  const [first, second, third, other] = [
    look(ann, hers, 'first'),
    look(ann, hers, 'second', given),
    look(ann, hers, 'third'),
    look(bob, his, 'other'),
  ];
  await expect.poll(() => queries).toEqual(['first', 'other']);
  given.end(new Error('enough'));
  answers.get('first')?.();
  await first;
  await expect(second).rejects.toThrow('enough');
  await expect.poll(() => queries).toEqual(['first', 'other', 'third']);
  for (const answer of answers.values()) answer();
  expect(await Promise.all([third, other])).toMatchObject([{ total: 0 }, { total: 0 }]);
});

test('one answer has at most a thousand, whatever the limit, and reports the total', async () => {
  const many = new Memories({ store: memoryStore().memories, search: lexicalSearch, clock });
  const ann = sessionOf('ann-thousand');
  const id = await many.open(ann, 'default', {});
  const entries = Array.from({ length: 1000 }, (_, k) => entry({ k }, 'x', { tier: 'working' }));
  await many.store(ann, id, [...entries, entry({ k: 1 }, 'kept')]);
  const answer = await many.retrieve(ann, id, { ...ALL, limit: 5_000 });
  expect([answer.entries.length, answer.total]).toEqual([1_000, 1_001]);
});
