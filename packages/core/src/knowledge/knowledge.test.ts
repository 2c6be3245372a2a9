import type { JsonObject } from '@dragoman/protocols';
import type { OperationDescription } from '@dragoman/protocols/a2e-workflow';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { TopicEmbedder } from '../../test-support/topic-embedder.ts';
import { Apis, decodeApi } from '../apis/apis.ts';
import { NO_PERMISSIONS, type Permissions, type Principal } from '../call/principal.ts';
import { decodeKnowledgeBase, KnowledgeBases } from './bases.ts';
import type { SearchRequest } from './definition.ts';
import type { Embedder } from './embedder.ts';
import { KnowledgeSearch } from './knowledge.ts';
import { apiSource } from './sources/apis.ts';
import { documentSource } from './sources/documents.ts';
import { endpointSource } from './sources/endpoints.ts';
import { operationSource } from './sources/operations.ts';

const ALL = { operations: ['*'], apis: ['*'] };

function agent(id: string, permissions: Partial<Permissions> = ALL): Principal {
  return { id, kind: 'agent', permissions: { ...NO_PERMISSIONS, ...permissions } };
}

async function world(embedder?: Embedder) {
  const store = memoryStore();
  const clock = new TestClock();
  const log = new SilentLog();
  const apis = new Apis({ store: store.apis, clock, log });
  const bases = new KnowledgeBases({ store: store.knowledge, clock });
  await putApi(apis, 'shop', 'GET /orders Lists the orders of a customer.', 'DELETE /orders/{id} Cancels a purchase.');
  await putApi(apis, 'sky', 'GET /forecast Tells whether it will rain.');
  await putBase(bases, 'rules', ['ada'], {
    returns: 'Goods are taken back for thirty days.',
    hours: 'We open at nine.',
  });
  const knowledge = new KnowledgeSearch({
    sources: [operationSource({ Weigh: WEIGH }), apiSource(apis), endpointSource(apis), documentSource(bases)],
    bases,
    clock,
    log,
    ...(embedder !== undefined && { embedder }),
  });
  const search = (query: string, principal = agent('ada'), options: Partial<SearchRequest> = {}) =>
    knowledge.search(principal, { query, ...options });
  const ids = async (...args: Parameters<typeof search>) => (await search(...args)).results.map(({ id }) => id);
  return { apis, bases, clock, knowledge, search, ids };
}

async function putApi(apis: Apis, id: string, ...endpoints: string[]): Promise<void> {
  const decoded = decodeApi(id, {
    base_url: `https://${id}.example`,
    description: `All about ${id}.`,
    endpoints: endpoints.map((line) => {
      const [method = '', path = '', ...words] = line.split(' ');
      return { method, path, description: words.join(' ') };
    }),
  });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  await apis.put(decoded.value);
}

async function putBase(
  bases: KnowledgeBases,
  id: string,
  agents: string[],
  texts: Record<string, string>,
): Promise<void> {
  const documents = Object.entries(texts).map(([name, text]) => ({ id: name, text, metadata: { page: 1 } }));
  const decoded = decodeKnowledgeBase(id, { agents, documents });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  await bases.put(decoded.value);
}

/** An operation of an operator's own. */
const WEIGH: OperationDescription = {
  summary: 'Weighs a parcel on the scales.',
  category: 'data',
  schema: { type: 'object', properties: { inputPath: { type: 'string' } } },
  members: [],
};

describe('by words', () => {
  test('everything is found that is permitted, with what is needed to use it, and why', async () => {
    const { search } = await world();
    const found = await search('orders of a customer');
    expect(found).toMatchObject({ query: 'orders of a customer', ranking: 'words', count: found.results.length });
    expect(found.results[0]).toEqual({
      type: 'endpoint',
      id: 'shop GET /orders',
      name: '/orders',
      text: 'Lists the orders of a customer.',
      api: 'shop',
      method: 'GET',
      path: '/orders',
      url: 'https://shop.example/orders',
      score: expect.any(Number),
      why: { words: ['orders', 'customer'], related: [] },
    });
    expect((await search('goods days')).results[0]).toMatchObject({
      type: 'document',
      id: 'returns',
      kb_id: 'rules',
      metadata: { page: 1 },
    });
  });

  test('type, base and number narrow it down', async () => {
    const { ids, search } = await world();
    const operations = await search('sort orders rain goods', undefined, { type: 'operation' });
    expect(operations.results[0]).toMatchObject({ id: 'TransformData' });
    expect(new Set(operations.results.map(({ type }) => type))).toEqual(new Set(['operation']));
    expect(await ids('orders rain goods nine', undefined, { kb_id: 'rules' })).toEqual(
      expect.arrayContaining(['returns', 'hours']),
    );
    expect(await ids('orders rain goods nine', undefined, { top_k: 1 })).toHaveLength(1);
  });

  test('an API is not listed beside its endpoint', async () => {
    const { ids } = await world();
    expect(await ids('shop orders')).not.toContain('shop');
    expect(await ids('shop', undefined, { type: 'api' })).toEqual(['shop']);
  });

  test('unrelated entries are not found', async () => {
    const { search } = await world();
    expect(await search('zebra crossing')).toMatchObject({ results: [], count: 0 });
  });
});

describe('a caller without permissions', () => {
  test('finds nothing: an empty list is an empty list', async () => {
    const { ids } = await world(new TopicEmbedder(/./));
    expect(await ids('orders rain goods sort', agent('eve', {}))).toEqual([]);
  });

  test('finds what its list names and nothing else', async () => {
    const { ids } = await world();
    expect(await ids('orders rain sort', agent('eve', { apis: ['sky'], operations: ['Wait'] }))).toEqual([
      'sky GET /forecast',
    ]);
  });

  test("cannot tell another's knowledge base from none", async () => {
    const { search } = await world();
    const refusal = async (id: string) =>
      search('goods', agent('eve'), { kb_id: id }).then(
        () => 'found',
        (error) => JSON.stringify(error.failure),
      );
    expect(await refusal('rules')).toBe(await refusal('never-was'));
    expect(await refusal('rules')).toContain('not_found');
  });

  test('gets the same answer, score for score, whatever others have', async () => {
    const { search, bases, apis } = await world();
    const mine = agent('eve', { apis: ['sky'] });
    const before = await search('will it rain', mine);
    await putBase(bases, 'secret', ['ada'], { one: 'It will rain, rain and rain.' });
    await putApi(apis, 'flood', 'GET /rain Rain.');
    expect(await search('will it rain', mine)).toEqual(before);
    expect(before.results).toHaveLength(1);
  });
});

describe.each([
  ['by words alone', undefined],
  // It returns the same vector for every text.
  ['with an encoder that favours others', new TopicEmbedder(/rain|umbrella|hours|orders|weigh|sky/i)],
])('a name, %s,', (_, embedder) => {
  test.each([
    ['Weigh', 'Weigh'],
    ['transform data', 'TransformData'],
    ['hours', 'hours'],
    ['sky', 'sky'],
    ['forecast', 'sky GET /forecast'],
    ['TransformD', 'TransformData'],
    ['retu', 'returns'],
  ])('%s finds %s first', async (query, id) => {
    const { apis, search, ids } = await world(embedder);
    await putApi(apis, 'noise', `GET /sound ${`${query} `.repeat(20)}.`);
    if (embedder !== undefined) await settled(() => search(query));
    expect((await ids(query))[0]).toBe(id);
  });
});

describe('by meaning', () => {
  test('an entry without a common word is found, with its closest sentence', async () => {
    const { search } = await world(new TopicEmbedder(/rain|umbrella/i));
    await search('anything');
    const found = await settled(() => search('umbrella tomorrow'));
    expect(found.ranking).toBe('words+meaning');
    expect(found.results[0]).toMatchObject({
      id: 'sky GET /forecast',
      why: { words: [], meaning: 1, closest: 'Tells whether it will rain.' },
    });
  });

  test('a search waits for an encoder that is starting: the ranking is the same from the first search on', async () => {
    const embedder = new TopicEmbedder(/rain|umbrella/i);
    embedder.ready = false;
    const { search } = await world(embedder);
    const first = search('umbrella');
    await new Promise(setImmediate);
    expect(embedder.embedded).toEqual([]);
    embedder.becomeReady();
    expect(await first).toMatchObject({ ranking: 'words+meaning' });
    const found = await settled(() => search('umbrella'));
    expect(found).toMatchObject({ ranking: 'words+meaning', results: [{ id: 'sky GET /forecast' }] });
    expect(found.pending).toBeUndefined();
  });

  test('an encoder that does not start in five seconds leaves the words', async () => {
    const embedder = new TopicEmbedder(/./);
    embedder.ready = false;
    const { search, clock } = await world(embedder);
    const found = search('customer');
    await new Promise(setImmediate);
    clock.pass(5000);
    expect(await found).toMatchObject({ ranking: 'words', count: 1 });
  });

  test('an encoder that fails leaves the words', async () => {
    const embedder = new TopicEmbedder(/./);
    embedder.fails = true;
    const { search } = await world(embedder);
    expect(await search('customer')).toMatchObject({ ranking: 'words', count: 1 });
  });

  test('only what changed is embedded again, and what is gone is not found', async () => {
    const embedder = new TopicEmbedder(/rain|snow/i);
    const { search, ids, apis } = await world(embedder);
    await settled(() => search('anything'));
    embedder.embedded.length = 0;
    await putApi(apis, 'sky', 'GET /forecast Tells whether it will rain.', 'GET /ski Says where there is snow.');
    await settled(() => search('anything'));
    expect(embedder.embedded.filter((text) => text !== 'anything')).toEqual([
      'ski. Says where there is snow.',
      'Says where there is snow.',
    ]);
    await apis.remove('sky');
    expect(await ids('rain or snow')).toEqual([]);
  });
});

describe('an answer', () => {
  test('is trimmed to its budget, and says what was left out', async () => {
    const { search } = await world();
    const whole = await search('orders rain goods nine', undefined, { token_budget: 100_000 });
    expect(whole).toMatchObject({ left_out: 0 });
    for (let budget = 50; budget < (whole.tokens ?? 0); budget += 10) {
      const {
        results,
        tokens = 0,
        left_out = 0,
      } = await search('orders rain goods nine', undefined, {
        token_budget: budget,
      });
      expect(tokens).toBeLessThanOrEqual(budget);
      expect(results.length + left_out).toBe(whole.count);
      expect(results.map(({ id }) => id)).toEqual(whole.results.slice(0, results.length).map(({ id }) => id));
    }
  });

  test('has a schema of the found operations only, on request', async () => {
    const { search } = await world();
    const found = await search('sort a list', undefined, { partial_schema: true, type: 'operation', top_k: 2 });
    const names = Object.keys((found.partial_schema?.['properties'] ?? {}) as JsonObject);
    expect(names).toEqual(found.results.map(({ id }) => id));
    expect(names).toContain('TransformData');
    expect(await search('sort a list')).not.toHaveProperty('partial_schema');
  });

  test("has the schema of an operator's own operation too", async () => {
    const { search } = await world();
    const found = await search('weigh a parcel on the scales', undefined, { partial_schema: true, type: 'operation' });
    expect(found.partial_schema).toMatchObject({ properties: { Weigh: WEIGH.schema } });
  });
});

test('thousands of things are read without holding anybody up', async () => {
  const { apis, search, knowledge } = await world();
  const many = Array.from({ length: 4000 }, (_, index) => `GET /things/${index} Gives thing number ${index} of many.`);
  await putApi(apis, 'many', ...many);
  let turns = 0;
  let going = true;
  const count = () => {
    turns += 1;
    if (going) setImmediate(count);
  };
  setImmediate(count);
  expect((await search('thing number 1234')).results[0]).toMatchObject({ path: '/things/1234' });
  going = false;
  expect(turns).toBeGreaterThan(30);
  await knowledge[Symbol.asyncDispose]();
});

/** The answer once all vectors are there. */
async function settled(search: () => ReturnType<KnowledgeSearch['search']>): ReturnType<KnowledgeSearch['search']> {
  for (;;) {
    const found = await search();
    if (found.ranking === 'words+meaning' && found.pending === undefined) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
