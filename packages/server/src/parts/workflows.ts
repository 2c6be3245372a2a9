import {
  type ApiCatalogue,
  askTarget,
  executionRequests,
  isPostgresUrl,
  type LoadedOperations,
  openWorkflows,
  RemoteExecutions,
  StoredWorkflows,
  type WorkflowService,
  workflowsTarget,
} from '@dragoman/core';
import { configuredWorkflows } from '../config/configured-workflows.ts';
import { jsonLimits } from '../config/endpoint-limits.ts';
import { keptAnswersMs } from '../config/kept-answers.ts';
import { reloadableWorkflows } from '../reload/reloadable-parts.ts';
import { adminWorkflowRoutes } from '../routes/admin-workflows.ts';
import { executionRoutes } from '../routes/executions.ts';
import { limitsAndCacheRoutes } from '../routes/limits-and-cache.ts';
import { storageRoutes } from '../routes/storage.ts';
import { storedWorkflowsRoute } from '../routes/stored-workflows.ts';
import { workflowRoutes } from '../routes/workflows.ts';
import type { ServerPart } from './part.ts';
import type { Service } from './service.ts';

export interface WorkflowsPartOptions extends Service {
  readonly apis: ApiCatalogue;
  readonly operations: LoadedOperations;
}

/** The workflow service and the stored workflows. */
export interface WorkflowsPart extends ServerPart {
  readonly workflows: WorkflowService;
  readonly stored: StoredWorkflows;
}

/** Puts the execution of workflows together as configured. */
export async function openWorkflowsPart(options: WorkflowsPartOptions): Promise<WorkflowsPart> {
  const { config, folder, cluster, engine, store, gate, vault, apis, clock, ids, log, operations } = options;
  const { operations: _, stored: _stored, ...limits } = config.workflows;
  const workflows = openWorkflows({
    store,
    runs: engine.runs.table,
    // With PostgreSQL there is no folder: another node could not read its files.
    ...(!isPostgresUrl(config.store) && { folder }),
    gate,
    apis,
    credentials: vault,
    limiter: engine.limiter,
    purgeTime: engine.purgeTime,
    askTarget: askTarget({ engine, clock, log }),
    questions: engine.questions,
    principalNamed: (id) => engine.principalNamed(id),
    storedWorkflows: () => stored,
    clock,
    ids,
    log,
    limits,
    jsonLimits: jsonLimits(config.limits),
    operations,
    keepMs: keptAnswersMs(config),
  });
  const stored: StoredWorkflows = new StoredWorkflows({ rules: workflows, store: store.workflows, clock, log });
  await stored.load(configuredWorkflows(config));
  if (store.cluster !== undefined && cluster !== undefined) {
    const { executions } = workflows;
    new RemoteExecutions({ store: store.cluster, executions, cluster, clock, log });
  }
  engine.runs.findElsewhere(executionRequests(workflows.executions));
  engine.addAgent(workflowsTarget({ workflows, stored }), { maxParallel: Number.POSITIVE_INFINITY });
  return {
    workflows,
    stored,
    routes: [
      ...workflowRoutes({ workflows, clock }),
      ...executionRoutes({ workflows, clock }),
      ...limitsAndCacheRoutes({ limiter: engine.limiter, callers: engine.callers, workflows }),
      storedWorkflowsRoute(stored),
      ...storageRoutes(workflows.storedData),
      ...adminWorkflowRoutes({ stored, maxBytes: workflows.limits.max_workflow_bytes }),
    ],
    reloadables: [reloadableWorkflows(stored, config)],
    families: {
      workflows: async () => {
        await stored.reload();
        return true;
      },
    },
    start: async () => workflows.executions.start(),
    stop: () => workflows.stop(),
  };
}
