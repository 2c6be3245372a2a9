import type { JsonObject } from '@dragoman/protocols';
import type { CompleteParams } from '@dragoman/protocols/mcp';
import type { KnowledgeBases } from '../../knowledge/bases.ts';
import { refuse } from '../../refusals/refused.ts';
import type { Store } from '../../store/store.ts';
import type { StoredWorkflows } from '../../targets/stored-workflows.ts';
import type { McpCatalogue } from './catalogue.ts';
import type { McpCall } from './mcp-call.ts';
import type { McpPrompts } from './prompts.ts';
import { RESOURCE_TEMPLATES } from './resources.ts';
import type { Upstream } from './upstream.ts';

export interface CompletionsOptions {
  readonly store: Pick<Store, 'sessions'>;
  readonly stored: Pick<StoredWorkflows, 'list'>;
  readonly bases: Pick<KnowledgeBases, 'listFor'>;
  readonly catalogue: McpCatalogue;
  readonly prompts: McpPrompts;
  readonly upstream: Upstream;
}

/**
 * `completion/complete`: completes this server's templates, and forwards other references to the servers that have
 * them.
 */
export class McpCompletions {
  readonly #options: CompletionsOptions;

  constructor(options: CompletionsOptions) {
    this.#options = options;
  }

  async complete(params: CompleteParams, call: McpCall): Promise<JsonObject> {
    const { type, name = '', uri = '' } = params.ref;
    const all = type === 'ref/prompt' ? await this.#ofPrompt(name, params, call) : await this.#ofUri(uri, params, call);
    return { completion: { values: all.slice(0, MOST), total: all.length, hasMore: all.length > MOST } };
  }

  /** The arguments of this server's own prompts are free text, so there is nothing to complete. */
  async #ofPrompt(name: string, params: CompleteParams, call: McpCall): Promise<readonly string[]> {
    const { prompts, upstream } = this.#options;
    if (await prompts.isOwn(name, call)) return [];
    const { server, definition } = await prompts.upstream(name, call);
    const ref = { type: 'ref/prompt' as const, name: String(definition['name']) };
    return upstream.complete(server, { ...params, ref }, call.signal);
  }

  async #ofUri(uri: string, params: CompleteParams, call: McpCall): Promise<readonly string[]> {
    const { upstream } = this.#options;
    if (RESOURCE_TEMPLATES.some(({ uriTemplate }) => uriTemplate === uri)) return this.#own(params, call);
    const templates = call.agentId === undefined ? await upstream.templates(call) : [];
    const found = templates.find(({ definition }) => definition['uriTemplate'] === uri);
    if (found !== undefined) return upstream.complete(found.server, params, call.signal);
    refuse('invalid_message', {}, `There is no resource template ${JSON.stringify(uri.slice(0, 256))}.`);
  }

  async #own({ ref, argument, context }: CompleteParams, { principal, agentId }: McpCall): Promise<readonly string[]> {
    const { store, stored, bases, catalogue } = this.#options;
    const begins = (text: string) => text.startsWith(argument.value);
    if (ref.uri?.startsWith('a2e:') === true)
      return stored
        .list(principal)
        .map(({ name }) => name)
        .filter(begins);
    if (argument.name === 'base')
      return bases
        .listFor(principal)
        .map(({ id }) => id)
        .filter(begins);
    if (argument.name === 'agent') return (await catalogue.agents(principal, agentId)).filter(begins);
    if (argument.name !== 'session') return [];
    const { rows } = await store.sessions.list(principal.id, { offset: 0, limit: MOST_SESSIONS });
    const agent = context?.arguments?.['agent'];
    return rows
      .filter((row) => (agent === undefined || row.agentId === agent) && begins(row.sessionId))
      .map(({ sessionId }) => sessionId);
  }
}

/** MCP, Completion: at most 100 values. */
const MOST = 100;
const MOST_SESSIONS = 1000;
