import { join } from 'node:path';
import type { JsonLimits } from '@dragoman/protocols';
import type { Credential } from '@dragoman/protocols/a2e-workflow';
import type { ApiCatalogue } from '../apis/api.ts';
import type { Principal } from '../call/principal.ts';
import type { Gate } from '../gate/gate.ts';
import type { Secrets, SecretUse } from '../gate/secrets.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Clock, Ids, Log } from '../ports/ports.ts';
import type { OpenQuestions } from '../questions/open-questions.ts';
import type { RunTable } from '../runs/run-table.ts';
import type { Store } from '../store/store.ts';
import { PurgeTime } from '../time/purge-time.ts';
import { BUILT_IN, type Catalog } from '../workflow/catalog.ts';
import type { LoadedOperations } from '../workflow/load-operations.ts';
import { WorkflowPool } from '../workflow/pool.ts';
import { AnswerCache } from './answer-cache.ts';
import { ApiCalls } from './api-calls.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { Executions } from './executions.ts';
import { FileStorage } from './file-storage.ts';
import { DEFAULT_WORKFLOW_LIMITS, type WorkflowLimits, type WorkflowsConfig } from './limits.ts';
import { Planner, type WorkflowCatalogue } from './planner.ts';
import { StoredData } from './stored-data.ts';
import type { AskTarget } from './target-asks.ts';
import { WorkflowRequestReader } from './workflow-request.ts';

export interface WorkflowsOptions {
  readonly store: Store;
  /** Every run of this process. */
  readonly runs: RunTable;
  /** The data folder: files of StoreData are kept below it. Default: they are kept in the store. */
  readonly folder?: string | undefined;
  readonly gate: Gate;
  readonly apis: ApiCatalogue;
  readonly credentials: KnownCredentials;
  readonly limiter: Limiter;
  readonly askTarget: AskTarget;
  /** The open questions to people. */
  readonly questions: OpenQuestions;
  readonly principalNamed: (id: string) => Principal | undefined;
  /** The stored workflows at the time of planning. */
  readonly storedWorkflows?: () => WorkflowCatalogue;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly limits?: WorkflowsConfig;
  /** JSON limits of each line of a workflow. */
  readonly jsonLimits?: JsonLimits;
  /** Default: the operations of the specification. */
  readonly operations?: LoadedOperations;
  /** How long ended executions are kept. Default: a day. */
  readonly keepMs?: number;
  /** The time by which old data is deleted. Default: the clock. */
  readonly purgeTime?: Pick<PurgeTime, 'now'>;
}

/** The credentials, without their values. */
export interface KnownCredentials extends Pick<Secrets, 'redactorFor'> {
  list(): readonly (Credential & { readonly id: string })[];
  find(id: string): { readonly version: number; readonly hosts: readonly string[] } | undefined;
  /** Records that a credential was not sent. */
  noteRefusal(id: string, use: SecretUse): void;
}

/** Everything that plans and executes workflows. */
export interface WorkflowService {
  /** Reads request bodies. */
  readonly reader: WorkflowRequestReader;
  readonly planner: Planner;
  readonly executions: Executions;
  /** The stored data of each agent. */
  readonly storedData: StoredData;
  readonly limits: WorkflowLimits;
  /** All operations, including the operator's own. */
  readonly catalog: Catalog;
  /** Removes the cached answers and results of one owner, or of all. Returns the number of answers. */
  forget(owner?: string): number;
  /** Removes files of StoreData that nothing names any more. */
  eraseFiles(files: readonly string[]): Promise<void>;
  /** Closes the pool that executions run in. Call it after the last execution. */
  stop(): Promise<void>;
}

export function openWorkflows(options: WorkflowsOptions): WorkflowService {
  const { store, folder, gate, apis, credentials, limiter, principalNamed, clock, ids, log } = options;
  const { keepMs = ONE_DAY, purgeTime = new PurgeTime({ clock, log }) } = options;
  const limits = { ...DEFAULT_WORKFLOW_LIMITS, ...options.limits };
  const versionOf = (id: string) => String(credentials.find(id)?.version ?? '');
  const cache = new AnswerCache({ clock, ids, ttlMs: limits.cache_seconds * 1000, versionOf });
  const breaker = new CircuitBreaker({ clock });
  const maxAnswerBytes = limits.max_answer_bytes;
  const hostsOf = (id: string) => credentials.find(id)?.hosts ?? [];
  const calls = new ApiCalls({ gate, apis, hostsOf, limiter, cache, breaker, clock, ids, maxAnswerBytes });
  const storedData = new StoredData({
    store: store.storedData,
    files: folder === undefined ? undefined : new FileStorage({ root: join(folder, 'stored') }),
    clock,
    ids,
    quota: { bytes: limits.store_bytes, count: limits.store_keys },
  });
  const { catalog, modules } = options.operations ?? { catalog: BUILT_IN, modules: [] };
  const pool = new WorkflowPool({ clock, log, operations: modules });
  const reader = new WorkflowRequestReader(catalog.own, options.jsonLimits);
  const known = () => Object.fromEntries(credentials.list().map((credential) => [credential.id, credential]));
  const planner = new Planner({
    apis,
    credentials: known,
    storedData,
    limits,
    catalog,
    storedWorkflows: options.storedWorkflows,
  });
  const executions = new Executions({
    store: store.executions,
    runs: options.runs,
    forgetting: store.forgetting,
    reader,
    planner,
    calls,
    storedData,
    questions: options.questions,
    askTarget: async (ask, by) => {
      await limiter.leaseApiCall(by.principal);
      limiter.apiCall(by.principal);
      return options.askTarget(ask, by);
    },
    noteRefusal: (id, use) => credentials.noteRefusal(id, use),
    redactorFor: (host) => credentials.redactorFor(host),
    run: (plan, runOptions) => pool.run(plan, runOptions),
    principalNamed,
    limits,
    keepMs,
    purgeTime,
    clock,
    ids,
    log,
  });
  return {
    reader,
    planner,
    executions,
    storedData,
    limits,
    catalog,
    forget: (owner) => {
      pool.forget(owner);
      return cache.clear(owner);
    },
    eraseFiles: (files) => storedData.erase(files),
    stop: () => pool[Symbol.asyncDispose](),
  };
}

const ONE_DAY = 24 * 3_600_000;
