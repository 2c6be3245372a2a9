import {
  decodeStoredWorkflow,
  StoredWorkflowDefinition,
  type StoredWorkflowEntry,
  type StoredWorkflows,
  unreadable,
} from '@dragoman/core';
import { type Failure, failure, type JsonObject } from '@dragoman/protocols';
import type { Answer, InboundRequest, Route } from '../http/route.ts';
import { integerParameter } from './route-parameters.ts';

export interface AdminWorkflowsContext {
  readonly stored: StoredWorkflows;
  /** The limit of a body that contains a workflow. */
  readonly maxBytes: number;
}

/** Administration of stored workflows. Every change is on disk before it is acknowledged. */
export function adminWorkflowRoutes({ stored, maxBytes }: AdminWorkflowsContext): Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/v1/workflows',
      access: 'admin',
      counts: false,
      summary: 'List all stored workflows.',
      handle: () => ({ status: 200, json: { workflows: stored.all().map((one) => summaryJson(one, stored)) } }),
    },
    {
      method: 'PUT',
      path: '/admin/v1/workflows/:name',
      access: 'admin',
      counts: false,
      summary: 'Store a workflow under a name. A changed text or description becomes the next version.',
      body: { contentTypes: ['application/json'], maxBytes, schema: StoredWorkflowDefinition },
      handle: (request) => putWorkflow(request, stored),
    },
    {
      method: 'GET',
      path: '/admin/v1/workflows/:name',
      access: 'admin',
      counts: false,
      summary: 'Read a stored workflow with its text and versions.',
      parameters: [integerParameter('version', 'Return the text of this version. Default: the one that runs.')],
      handle: (request) => getWorkflow(request, stored),
    },
    {
      method: 'DELETE',
      path: '/admin/v1/workflows/:name',
      access: 'admin',
      counts: false,
      summary: 'Remove a stored workflow.',
      handle: async ({ params }) => {
        const name = params['name'] ?? '';
        return (await stored.remove(name)) ? { status: 200, json: { name, removed: true } } : noWorkflow();
      },
    },
  ];
}

async function putWorkflow(request: InboundRequest, stored: StoredWorkflows): Promise<Answer | Failure> {
  const name = request.params['name'] ?? '';
  const json = await request.readJson();
  if (!json.ok) return unreadable(json.issues);
  const decoded = decodeStoredWorkflow(name, json.value);
  if (!decoded.ok) return failure('invalid_message', { issues: decoded.issues });
  const { workflow, change } = await stored.put(decoded.value);
  return { status: change === 'made' ? 201 : 200, json: summaryJson(workflow, stored) };
}

async function getWorkflow({ params, query }: InboundRequest, stored: StoredWorkflows): Promise<Answer | Failure> {
  const workflow = stored.find(params['name'] ?? '');
  if (workflow === undefined) return noWorkflow();
  const rows = stored.isConfigured(workflow.name) ? [] : await stored.versions(workflow.name);
  const wanted = query.get('version');
  const row = rows.find(({ version }) => String(version) === wanted);
  if (wanted !== null && row === undefined) return failure('not_found', {}, 'Version not found.');
  const { text, description, planHash, version } = row ?? workflow;
  const versions = rows.map((one) => ({
    version: one.version,
    description: one.description,
    plan_hash: one.planHash,
    created_at: new Date(one.createdAt).toISOString(),
    removed_at: one.removedAt === null ? null : new Date(one.removedAt).toISOString(),
  }));
  const shown = { description, plan_hash: planHash, version };
  return { status: 200, json: { ...summaryJson(workflow, stored), ...shown, workflow: text, versions } };
}

function summaryJson({ name, description, version, planHash, inputs }: StoredWorkflowEntry, stored: StoredWorkflows) {
  return {
    name,
    description,
    version,
    plan_hash: planHash,
    inputs: inputs as JsonObject,
    from: stored.isConfigured(name) ? 'config' : 'admin',
  };
}

function noWorkflow(): Failure {
  return failure('not_found', {}, 'Stored workflow not found.');
}
