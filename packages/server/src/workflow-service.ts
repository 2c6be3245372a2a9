import {
  type ApiCatalogue,
  askTarget,
  type LoadedOperations,
  openWorkflows,
  StoredWorkflows,
  type Vault,
  type Workflows,
  workflowsTarget,
} from '@dragoman/core';
import { configuredWorkflows } from './configured-workflows.ts';
import { jsonLimits } from './door-limits.ts';
import { keptAnswers } from './kept-answers.ts';
import type { Reloadable } from './reload.ts';
import { reloadableWorkflows } from './reloadable-parts.ts';
import type { Route } from './route.ts';
import { adminWorkflowRoutes } from './routes/admin-workflows.ts';
import { executionRoutes } from './routes/executions.ts';
import { limitsAndCacheRoutes } from './routes/limits-and-cache.ts';
import { storedWorkflowsRoute } from './routes/stored-workflows.ts';
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
  readonly stored: StoredWorkflows;
  readonly routes: readonly Route[];
  /** What of it can change while it runs. */
  readonly reloadables: readonly Reloadable[];
  /** Takes up what an earlier process left. Call it when the engine has started. */
  start(): Promise<void>;
  stop(drainMs: number): Promise<void>;
}

/** Puts the execution of workflows together as configured. */
export async function openWorkflowService(options: WorkflowServiceOptions): Promise<WorkflowService> {
  const { config, folder, engine, store, gate, vault, apis, clock, ids, log, operations } = options;
  const { operations: _, stored: _stored, ...limits } = config.workflows ?? {};
  const workflows = openWorkflows({
    store,
    folder,
    gate,
    apis,
    credentials: vault,
    limiter: engine.limiter,
    purgeTime: engine.purgeTime,
    askTarget: askTarget({ engine, clock, log }),
    principalNamed: (id) => engine.principalNamed(id),
    storedWorkflows: () => stored,
    clock,
    ids,
    log,
    limits,
    jsonLimits: jsonLimits(config.limits ?? {}),
    operations,
    ...keptAnswers(config),
  });
  const stored: StoredWorkflows = new StoredWorkflows({ rules: workflows, store: store.workflows, clock, log });
  await stored.load(configuredWorkflows(config));
  engine.addAgent(workflowsTarget({ workflows, stored }), { maxParallel: Number.POSITIVE_INFINITY });
  let stopped: Promise<void> | undefined;
  return {
    workflows,
    stored,
    routes: [
      ...workflowRoutes({ workflows, clock }),
      ...executionRoutes({ workflows, clock }),
      ...limitsAndCacheRoutes({ limiter: engine.limiter, workflows }),
      storedWorkflowsRoute(stored),
      ...adminWorkflowRoutes({ stored, maxBytes: workflows.limits.max_workflow_bytes }),
    ],
    reloadables: [reloadableWorkflows(stored, config)],
    start: () => workflows.executions.start(),
    stop: (drainMs) => {
      stopped ??= workflows.stop(drainMs);
      return stopped;
    },
  };
}
