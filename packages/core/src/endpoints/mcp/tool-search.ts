import type { ListedTool } from './catalogue.ts';

/** The tools whose name or description has words of the query, best match first. A word in a name counts more. */
export function searchTools(tools: readonly ListedTool[], query: string, limit: number): ListedTool[] {
  const words = [...new Set(wordsIn(query))].slice(0, MOST_WORDS);
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .slice(0, limit)
    .map(({ tool }) => tool);
}

function scoreOf({ name, definition }: ListedTool, words: readonly string[]): number {
  const inName = name.toLowerCase();
  const inText = String(definition['description'] ?? '').toLowerCase();
  return words.reduce((sum, word) => sum + (inName.includes(word) ? 3 : 0) + (inText.includes(word) ? 1 : 0), 0);
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

const MOST_WORDS = 32;
