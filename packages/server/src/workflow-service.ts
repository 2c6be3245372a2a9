import { readFileSync } from 'node:fs';
import {
  type ApiCatalogue,
  askTarget,
  type LoadedOperations,
  openWorkflows,
  type StoredDefinition,
  StoredWorkflows,
  type Vault,
  type Workflows,
  workflowsTarget,
} from '@dragoman/core';
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
  readonly stored: StoredWorkflows;
  readonly routes: readonly Route[];
  /** Takes up what an earlier process left. Call it when the engine has started. */
  start(): Promise<void>;
  stop(drainMs: number): Promise<void>;
}

/** Puts the execution of workflows together as configured. */
export function openWorkflowService(options: WorkflowServiceOptions): WorkflowService {
  const { config, folder, engine, store, gate, vault, apis, clock, ids, log, operations } = options;
  const { operations: _, stored: configured = {}, ...limits } = config.workflows ?? {};
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
    clock,
    ids,
    log,
    limits,
    jsonLimits: jsonLimits(config.limits ?? {}),
    operations,
    ...keptAnswers(config),
  });
  const stored = new StoredWorkflows(workflows);
  stored.replace(
    Object.entries(configured).map(([name, { file, description = '' }]) => readStored(name, file, description)),
  );
  engine.addAgent(workflowsTarget({ workflows, stored }), { maxParallel: Number.POSITIVE_INFINITY });
  let stopped: Promise<void> | undefined;
  return {
    workflows,
    stored,
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

function readStored(name: string, file: string, description: string): StoredDefinition {
  try {
    return { name, description, text: readFileSync(file, 'utf8'), version: 1 };
  } catch (error) {
    throw new Error(`workflows.stored.${name}: ${file} cannot be read: ${(error as Error).message}`);
  }
}
