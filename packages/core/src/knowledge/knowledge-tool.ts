import type { JsonSchema } from '@dragoman/protocols';
import { toolFrom } from '../tools/define-tool.ts';
import type { Tool, ToolSource } from '../tools/tool.ts';
import type { KnowledgeBases } from './bases.ts';
import type { SearchRequest } from './definition.ts';
import type { KnowledgeSearch } from './knowledge.ts';

/** The tool `search_knowledge`. It exists while there are knowledge bases, for callers that may search one of them. */
export class KnowledgeTool implements ToolSource {
  readonly #bases: KnowledgeBases;
  readonly #tool: Tool;

  constructor({ search, bases }: { readonly search: KnowledgeSearch; readonly bases: KnowledgeBases }) {
    this.#bases = bases;
    const tool = toolFrom({
      name: NAME,
      description:
        'Searches the documents of the knowledge bases of this server, by words and by meaning. Returns the best passages.',
      input: INPUT,
      idempotent: true,
      tags: ['knowledge'],
      run: async (args, { principal }) => {
        const found = await search.search(principal, { ...(args as unknown as SearchRequest), type: 'document' });
        return { results: found.results, count: found.count };
      },
    });
    this.#tool = { ...tool, mayUse: (principal) => bases.listFor(principal).length > 0 };
  }

  get version(): number {
    return this.#bases.version;
  }

  tools(): Iterable<Tool> {
    return this.#bases.list().length === 0 ? [] : [this.#tool];
  }

  find(name: string): Tool | undefined {
    return name === NAME && this.#bases.list().length > 0 ? this.#tool : undefined;
  }
}

const NAME = 'search_knowledge';
const INPUT: JsonSchema = {
  type: 'object',
  required: ['query'],
  properties: {
    query: { type: 'string', minLength: 1, maxLength: 1000, pattern: '\\S', description: 'What to look for.' },
    kb_id: { type: 'string', minLength: 1, maxLength: 100, description: 'Only this knowledge base. Default: all.' },
    top_k: { type: 'integer', minimum: 1, maximum: 50, description: 'The most results. Default: 5.' },
    token_budget: {
      type: 'integer',
      minimum: 50,
      maximum: 1_000_000,
      description: 'Trims the results to about this many tokens.',
    },
  },
  additionalProperties: false,
};
