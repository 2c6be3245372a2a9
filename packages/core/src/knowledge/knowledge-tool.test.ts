import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { ALL_PERMISSIONS, type Principal } from '../call/principal.ts';
import { callerTools } from '../tools/caller-tools.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import { KnowledgeBases } from './bases.ts';
import { KnowledgeSearch } from './knowledge.ts';
import { KnowledgeTool } from './knowledge-tool.ts';
import { documentSource } from './sources/documents.ts';

const clock = new TestClock();
const bases = new KnowledgeBases({ store: memoryStore().knowledge, clock });
const search = new KnowledgeSearch({ sources: [documentSource(bases)], bases, clock, log: new SilentLog() });
const registry = new ToolRegistry({ clock });
registry.add(new KnowledgeTool({ search, bases }));
const { signal } = new AbortController();
const toolsOf = (id: string) => {
  const principal: Principal = { id, kind: 'agent', permissions: ALL_PERMISSIONS };
  return callerTools(registry, { principal, signal, hops: 1 });
};
const namesOf = async (id: string) => (await toolsOf(id).list()).map(({ name }) => name);

test('search_knowledge is there for callers who may search a knowledge base, and finds what is theirs', async () => {
  expect(await namesOf('ada')).toEqual([]);
  await bases.put({ id: 'rules', agents: ['ada'], documents: [{ id: 'returns', text: 'Goods are taken back.' }] });
  await bases.put({ id: 'secrets', agents: ['eve'], documents: [{ id: 'goods', text: 'Goods are stolen.' }] });
  expect(await namesOf('ada')).toEqual(['search_knowledge']);
  expect(await namesOf('bob')).toEqual([]);
  const { data } = await toolsOf('ada').call('search_knowledge', { query: 'goods' });
  expect(data).toMatchObject({ count: 1, results: [{ id: 'returns' }] });
  await expect(toolsOf('bob').call('search_knowledge', { query: 'goods' })).rejects.toThrow();
  await expect(toolsOf('ada').call('search_knowledge', { query: 'goods', kb_id: 'secrets' })).rejects.toThrow(
    'Knowledge base not found.',
  );
  await expect(toolsOf('ada').call('search_knowledge', { query: ' ' })).rejects.toThrow('query');
});
