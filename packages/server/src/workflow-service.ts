import { type ApiCatalogue, type LoadedOperations, openWorkflows, type Vault, type Workflows } from '@dragoman/core';
import { jsonLimits } from './door-limits.ts';
import { keptAnswers } from './kept-answers.ts';
import type { Route } from './route.ts';
import { executionRoutes } from './routes/executions.ts';
import { limitsAndCacheRoutes } from './routes/limits-and-cache.ts';
import { workflowRoutes } from './routes/workflows.ts';
import type { ServiceOptions } from './service-options.ts';

export interface WorkflowServiceOptions extends ServiceOptions {
  readonly vault: Vault;
  readonly apis: ApiCatalogue;
  readonly operations: LoadedOperations;
}

/** Workflows and everything that belongs to them. */
export interface WorkflowService {
  readonly workflows: Workflows;
  readonly routes: readonly Route[];
  /** Takes up what an earlier process left. Call it when the engine has started. */
  start(): Promise<void>;
  stop(drainMs: number): Promise<void>;
}

/** Puts the execution of workflows together as configured. */
export function openWorkflowService(options: WorkflowServiceOptions): WorkflowService {
  const { config, folder, engine, store, gate, vault, apis, clock, ids, log, operations } = options;
  const { operations: _, ...limits } = config.workflows ?? {};
  const workflows = openWorkflows({
    store,
    folder,
    gate,
    apis,
    credentials: vault,
    limiter: engine.limiter,
    purgeTime: engine.purgeTime,
    principalNamed: (id) => engine.principalNamed(id),
    clock,
    ids,
    log,
    limits,
    jsonLimits: jsonLimits(config.limits ?? {}),
    operations,
    ...keptAnswers(config),
  });
  let stopped: Promise<void> | undefined;
  return {
    workflows,
    routes: [
      ...workflowRoutes({ workflows, clock }),
      ...executionRoutes({ workflows, clock }),
      ...limitsAndCacheRoutes({ limiter: engine.limiter, workflows }),
    ],
    start: () => workflows.executions.start(),
    stop: (drainMs) => {
      stopped ??= workflows.stop(drainMs);
      return stopped;
    },
  };
}
