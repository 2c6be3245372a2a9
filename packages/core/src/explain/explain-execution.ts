import { type Allowed, type Json, type JsonObject, redacted } from '@dragoman/protocols';
import { encodeWorkflow, operationNamed, parseWorkflow, usesOf, type Workflow } from '@dragoman/protocols/a2e-workflow';
import type { Permissions } from '../call/principal.ts';
import { recordedRequest } from '../executions/workflow-request.ts';
import type { ExecutionRow } from '../store/store.ts';
import { stringOf } from '../text/long-text.ts';
import { NO_CHANGES } from './changes.ts';
import type { ExplainContext, Explained } from './explain-context.ts';
import { BY_PERMISSIONS_NOW, permissionList, permissionRule } from './permission-rule.ts';

/** An execution of a workflow, from its record. The permissions are the current ones, which apply whenever it runs. */
export async function explainExecution(
  row: ExecutionRow,
  { store, principalNamed, operations }: ExplainContext,
): Promise<Explained> {
  const { workflow: text = '', ...options } = recordedRequest(row.request).body as JsonObject & { workflow?: string };
  const read = parseWorkflow(text, { lenient: true, operations });
  const effects = await store.executions.effects(row);
  return {
    request_id: row.executionId,
    kind: 'execution',
    agent_id: row.owner,
    accepted_at: new Date(row.acceptedAt).toISOString(),
    state: row.end?.status ?? 'running',
    received: { dialect: 'a2e-workflow', bytes: Buffer.byteLength(text), text },
    envelope: null,
    allowed: read.ok
      ? allowed(row, read.value, { operations, permissions: principalNamed(row.owner)?.permissions })
      : [],
    way_in: { ...NO_CHANGES, warnings: read.ok ? read.warnings : read.issues },
    answers: [],
    answers_left_out: 0,
    outcome: {
      normalised: read.ok ? encodeWorkflow(read.value) : null,
      options: redacted(options),
      plan_hash: row.digest,
      effects: effects.map(({ position, key, kind, bytes }) => ({ position, key, kind, bytes: bytes?.length ?? 0 })),
      result: row.end === null ? null : (JSON.parse(await stringOf(row.end.result)) as Json),
    },
    callbacks: [],
  };
}

function allowed(
  { owner }: ExecutionRow,
  workflow: Workflow,
  { operations: own, permissions }: Pick<ExplainContext, 'operations'> & { permissions: Permissions | undefined },
): Allowed[] {
  if (permissions === undefined) return [];
  const operations = [...workflow.operations.values()];
  const uses = operations.flatMap(({ type, config }) => {
    const description = operationNamed(type, own);
    return description === undefined ? [] : [usesOf(description, config)];
  });
  const wanted: [list: keyof Permissions, name: string][] = [
    ...operations.map(({ type }): ['operations', string] => ['operations', type]),
    ...uses.flatMap((one) => one.credentials.map(({ id }): ['credentials', string] => ['credentials', id])),
  ];
  const once = new Map(wanted.map(([list, name]) => [`${list} ${name}`, { list, name }]));
  const calls = uses.some(({ urls }) => urls.length > 0);
  return [
    ...[...once.values()].map(({ list, name }) => ({
      who: owner,
      known_by: BY_PERMISSIONS_NOW,
      what: `to use the ${list === 'operations' ? 'operation' : 'credential'} ${name}`,
      rule: permissionRule(permissions, list, name),
    })),
    ...(calls
      ? [{ who: owner, known_by: BY_PERMISSIONS_NOW, what: 'to call APIs', rule: permissionList(permissions, 'apis') }]
      : []),
  ];
}
