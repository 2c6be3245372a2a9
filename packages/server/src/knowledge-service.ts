import {
  Apis,
  apiSource,
  type Clock,
  type CredentialCatalogue,
  DEFAULT_WORKFLOW_LIMITS,
  documentSource,
  type Embedder,
  EndpointEmbedder,
  endpointSource,
  type Gate,
  Knowledge,
  KnowledgeBases,
  type Log,
  operationSource,
  type Store,
  ThreadEmbedder,
  type ToolRegistry,
  toolSource,
  workflowSource,
} from '@dragoman/core';
import { OPERATION_NAMES, type OwnOperations } from '@dragoman/protocols/a2e-workflow';
import type { Config } from './config-schema.ts';
import type { Route } from './route.ts';
import { adminApiRoutes } from './routes/admin-apis.ts';
import { adminKnowledgeRoutes } from './routes/admin-knowledge.ts';
import { capabilitiesRoute } from './routes/capabilities.ts';
import { knowledgeRoutes } from './routes/knowledge.ts';

export interface KnowledgeServiceOptions {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly gate: Gate;
  readonly credentials: CredentialCatalogue;
  /** Operations there are beside the built-in ones. */
  readonly operations: OwnOperations;
  /** The tools, once there are any. */
  readonly tools: () => ToolRegistry | undefined;
}

/** How agents learn what there is for them: APIs, capabilities, knowledge. */
export interface KnowledgeService {
  readonly apis: Apis;
  readonly knowledge: Knowledge;
  readonly routes: readonly Route[];
}

/** Reads what is stored and configured. The search itself is loaded when somebody searches. */
export async function openKnowledge(options: KnowledgeServiceOptions): Promise<KnowledgeService> {
  const { config, store, clock, log, gate, credentials, operations } = options;
  const apis = new Apis({ store: store.apis, clock, log, gate });
  const bases = new KnowledgeBases({ store: store.knowledge, clock });
  await Promise.all([apis.load(config.apis), bases.load()]);
  const knowledge = new Knowledge({
    sources: [
      operationSource(operations),
      apiSource(apis),
      endpointSource(apis),
      toolSource(options.tools),
      workflowSource(options.tools),
      documentSource(bases),
    ],
    bases,
    clock,
    log,
    embedder: embedderOf(options),
  });
  const limits = { ...DEFAULT_WORKFLOW_LIMITS, ...config.workflows };
  const routes = [
    capabilitiesRoute({
      apis,
      bases,
      operations: [...OPERATION_NAMES, ...Object.keys(operations)],
      limits: { executionTime: limits.timeout_ms, operations: limits.max_operations },
      credentials,
    }),
    ...knowledgeRoutes({ knowledge, bases }),
    ...adminApiRoutes(apis),
    ...adminKnowledgeRoutes(bases),
  ];
  return { apis, knowledge, routes };
}

function embedderOf({ config, clock, log, gate }: KnowledgeServiceOptions): Embedder {
  const endpoint = config.knowledge?.embeddings;
  if (endpoint === undefined) return new ThreadEmbedder({ clock, log });
  return new EndpointEmbedder({ gate, clock, log, ...endpoint });
}
