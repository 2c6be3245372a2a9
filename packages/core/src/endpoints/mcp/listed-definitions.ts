import type { JsonObject } from '@dragoman/protocols';
import type { ListedTool } from './catalogue.ts';
import { ANSWER_TOOLS, type OwnTool, SEARCH_TOOLS } from './own-tools.ts';

/**
 * The tools of `tools/list`. Long lists fill the context of a model, so at most `most` tools are listed, agents and workflows first;
 * search_tools finds the others.
 */
export function listedDefinitions(tools: readonly ListedTool[], most: number): JsonObject[] {
  const shown = tools.filter(({ isDeferred }) => !isDeferred);
  const isShort = shown.length > most;
  const own = definitionsOf(ANSWER_TOOLS);
  const search = isShort || shown.length < tools.length ? definitionsOf(SEARCH_TOOLS) : [];
  const first = isShort ? [...shown].sort((a, b) => RANK[a.kind] - RANK[b.kind]).slice(0, most) : shown;
  const all = [...own, ...search, ...first.map(({ definition }) => definition)];
  return all.sort((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1));
}

function definitionsOf(tools: Readonly<Record<string, OwnTool>>): JsonObject[] {
  return Object.entries(tools).map(([name, tool]) => ({ name, ...(tool as unknown as JsonObject) }));
}

const RANK = { agent: 0, workflow: 1, tool: 2 } as const;
