import {
  Apis,
  apiSource,
  documentSource,
  type Embedder,
  EndpointEmbedder,
  endpointSource,
  KnowledgeBases,
  KnowledgeSearch,
  KnowledgeTool,
  operationSource,
  ThreadEmbedder,
  toolSource,
  workflowSource,
} from '@dragoman/core';
import { OPERATION_NAMES, type OwnOperations } from '@dragoman/protocols/a2e-workflow';
import { reloadableApis } from '../reload/reloadable-parts.ts';
import { adminApiRoutes } from '../routes/admin-apis.ts';
import { adminKnowledgeRoutes } from '../routes/admin-knowledge.ts';
import { capabilitiesRoute } from '../routes/capabilities.ts';
import { knowledgeRoutes } from '../routes/knowledge.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface KnowledgePartOptions extends Service {
  /** The operator's own operations, beside the built-in ones. */
  readonly operations: OwnOperations;
}

/** The search for APIs, capabilities and knowledge. */
export interface KnowledgePart extends ServerPart {
  readonly apis: Apis;
  readonly bases: KnowledgeBases;
  readonly tool: KnowledgeTool;
}

/** Reads the stored and configured knowledge bases. The search engine is loaded with the first search. */
export async function openKnowledgePart(options: KnowledgePartOptions): Promise<KnowledgePart> {
  const { config, store, clock, log, gate, vault, tools, operations } = options;
  const apis = new Apis({ store: store.apis, clock, log, gate });
  const bases = new KnowledgeBases({ store: store.knowledge, clock });
  await Promise.all([apis.load(config.apis), bases.load()]);
  const knowledge = new KnowledgeSearch({
    sources: [
      operationSource(operations),
      apiSource(apis),
      endpointSource(apis),
      toolSource(() => tools),
      workflowSource(() => tools),
      documentSource(bases),
    ],
    bases,
    clock,
    log,
    embedder: embedderOf(options),
  });
  const limits = config.workflows;
  const routes = [
    capabilitiesRoute({
      apis,
      bases,
      operations: [...OPERATION_NAMES, ...Object.keys(operations)],
      limits: { executionTime: limits.timeout_ms, operations: limits.max_operations },
      credentials: vault,
    }),
    ...knowledgeRoutes({ knowledge, bases }),
    ...adminApiRoutes(apis),
    ...adminKnowledgeRoutes(bases),
  ];
  return {
    apis,
    bases,
    tool: new KnowledgeTool({ search: knowledge, bases }),
    routes,
    reloadables: [reloadableApis(apis)],
    families: { apis: () => apis.reload(), knowledge: () => bases.load() },
    stop: () => knowledge[Symbol.asyncDispose](),
  };
}

function embedderOf({ config, clock, log, gate, reader }: KnowledgePartOptions): Embedder {
  const endpoint = config.knowledge?.embeddings;
  if (endpoint === undefined) return new ThreadEmbedder({ clock, log });
  return new EndpointEmbedder({ gate, clock, log, reader, ...endpoint });
}
