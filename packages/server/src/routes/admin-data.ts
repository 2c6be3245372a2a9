import type { Engine, ForgottenCounts, Log, Removed, Store, WorkflowService } from '@dragoman/core';
import { type Failure, failure } from '@dragoman/protocols';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { callerOf } from './inbound-fields.ts';
import { WHOSE } from './route-parameters.ts';

export interface DataContext {
  readonly engine: Engine;
  readonly store: Store;
  readonly workflows: WorkflowService;
  readonly log: Log;
}

/** Removes recorded data, for operators. The data is off the disk before the removal is acknowledged. */
export function adminDataRoutes(context: DataContext): Route[] {
  return [
    {
      method: 'DELETE',
      path: '/admin/v1/agents/:agent_id/data',
      access: 'admin',
      counts: false,
      summary:
        'Forget everything recorded for an agent: requests, sessions, threads, executions, stored data, memories, callbacks. Running work stays and is counted.',
      handle: (request) => forgetAgent(request, context),
    },
    {
      method: 'DELETE',
      path: '/admin/v1/requests/:request_id',
      access: 'admin',
      counts: false,
      summary:
        'Forget a request with its answer, thread messages and callbacks, or an execution with its events and result. ?agent_id= selects among several.',
      parameters: [WHOSE],
      handle: (request) => forgetRequest(request, context),
    },
  ];
}

async function forgetAgent(request: InboundRequest, context: DataContext): Promise<Answer | Failure> {
  const { engine, store, workflows, log } = context;
  const agentId = request.params['agent_id'] ?? '';
  const { files, underWay, ...forgotten } = await store.forgetting.caller(agentId);
  await workflows.eraseFiles(files);
  workflows.forget(agentId);
  await engine.router.tidy();
  const isUnknown = engine.callers.find(agentId) === undefined && !engine.router.ids().includes(agentId);
  if (isUnknown && underWay === 0 && Object.values(forgotten).every((count) => count === 0)) {
    return failure('not_found', {}, 'Agent not found.');
  }
  const result = { agent_id: agentId, forgotten: forgottenJson(forgotten), under_way: underWay };
  log.info({ ...result, by: callerOf(request).keyId }, 'the records of an agent were deleted');
  return { status: 200, json: result };
}

async function forgetRequest(request: InboundRequest, context: DataContext): Promise<Answer | Failure> {
  const { store, workflows, log } = context;
  const id = request.params['request_id'] ?? '';
  const wanted = request.query.get('agent_id') ?? undefined;
  const rows = [...(await store.requests.named(id)), ...(await store.executions.named(id))];
  const owners = [...new Set(rows.map(({ owner }) => owner))].filter((owner) => (wanted ?? owner) === owner);
  // No row is left, but a thread may keep a message longer than its request is kept.
  const [owner = wanted] = owners;
  if (owner === undefined) return NO_REQUEST;
  if (owners.length > 1) {
    const suggestions = owners.slice(0, 6).map((name) => `add ?agent_id=${encodeURIComponent(name)}`);
    return failure('conflict', { suggestions }, 'Several agents have used this id; specify the agent.');
  }
  const removed: Removed[] = [
    await store.forgetting.request({ owner, requestId: id }),
    await workflows.executions.remove({ owner, executionId: id }),
  ];
  if (removed.includes('under_way')) return UNDER_WAY;
  if (!removed.includes('removed')) return NO_REQUEST;
  log.info({ request_id: id, agent_id: owner, by: callerOf(request).keyId }, 'the records of a request were deleted');
  return { status: 200, json: { request_id: id, agent_id: owner, removed: true } };
}

function forgottenJson(forgotten: Omit<ForgottenCounts, 'files' | 'underWay'>) {
  const { requests, sessions, executions, storedKeys, threadMessages, callbacks, memories } = forgotten;
  return {
    requests,
    sessions,
    executions,
    callbacks,
    memories,
    stored_keys: storedKeys,
    thread_messages: threadMessages,
  };
}

const NO_REQUEST = failure('not_found', {}, 'Request not found.');
const UNDER_WAY = failure(
  'conflict',
  { suggestions: ['cancel it, or wait for its end'] },
  'The request or execution is still running and was not deleted.',
);
