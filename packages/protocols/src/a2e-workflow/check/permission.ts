import { nearest } from '../../nearest.ts';
import { show } from '../../validation.ts';
import { nameOf } from '../member.ts';
import { about, type Draft, type Rule } from './rule.ts';

/** The caller may use each operation. */
export const allowedOperations: Rule = ({ operations, context }) => {
  const allowed = context.permissions?.operations;
  if (allowed === undefined || allowed.includes('*')) return [];
  return [...operations.values()]
    .filter(({ type }) => !allowed.includes(type))
    .map((operation) =>
      about(operation, '', {
        code: 'operation_not_allowed',
        message: `${operation.type} is not among the operations this agent may use`,
        suggestion: allowed.length === 0 ? 'ask the operator for this permission' : `allowed: ${allowed.join(', ')}`,
      }),
    );
};

/** The caller may call each tool, agent and stored workflow. A refusal does not reveal whether it exists. */
export const allowedCallees: Rule = ({ operations, context }) =>
  [...operations.values()].flatMap((operation) =>
    operation.uses.callees.flatMap(({ pointer, name, list }) => {
      const allowed = context.permissions?.[list];
      if (allowed === undefined || allowed.includes('*') || allowed.includes(name)) return [];
      const close = nearest(name, allowed);
      return about(operation, pointer, {
        code: 'callee_not_allowed',
        message: `${nameOf(pointer)} names ${show(name)}, which is not in permissions.${list} of this agent`,
        suggestion: close === undefined ? 'ask the operator for this permission' : `did you mean ${close}?`,
      });
    }),
  );

/** Each stored workflow that the caller may run exists. */
export const knownWorkflows: Rule = ({ operations, context }) => {
  const { workflows, permissions } = context;
  if (workflows === undefined) return [];
  const existing = new Set(workflows);
  const mayRun = (name: string) =>
    permissions?.workflows === undefined || permissions.workflows.includes('*') || permissions.workflows.includes(name);
  return [...operations.values()].flatMap((operation) =>
    operation.uses.callees.flatMap(({ pointer, name, list }) => {
      if (list !== 'workflows' || existing.has(name) || !mayRun(name)) return [];
      const close = nearest(name, workflows.filter(mayRun));
      return about(operation, pointer, {
        code: 'workflow_unknown',
        message: `${nameOf(pointer)} names the stored workflow ${show(name)}, which does not exist`,
        suggestion: close === undefined ? 'store it, or name another' : `did you mean ${close}?`,
      });
    }),
  );
};

/** Credentials exist, are granted to the caller, and are in an allowed place of the request. */
export const usableCredentials: Rule = ({ operations, context }) => {
  const drafts: Draft[] = [];
  for (const operation of operations.values()) {
    for (const { id, pointer, place } of operation.uses.credentials) {
      if (place === undefined) {
        const message = `${nameOf(pointer)} has a credentialRef, which is allowed only as the value of a header, a query field or a member of the body`;
        drafts.push(
          about(operation, pointer, { code: 'credential_place', message, suggestion: 'put it into a header' }),
        );
        continue;
      }
      const usable = usableIds(context.permissions?.credentials, context.credentials);
      if (usable !== undefined && !usable.has(id)) {
        const close = nearest(id, usable.all);
        // The same message for missing and not granted credentials, so that callers cannot tell them apart.
        const message = `${nameOf(pointer)} references the credential ${show(id)}, which does not exist or is not granted to this agent`;
        const suggestion =
          close === undefined ? 'see availableCredentials in GET /api/v1/capabilities' : `did you mean ${close}?`;
        drafts.push(about(operation, pointer, { code: 'credential_unavailable', message, suggestion }));
        continue;
      }
      const policy = context.credentials === undefined ? undefined : (context.credentials[id]?.places ?? ['header']);
      if (policy?.includes(place) || (policy === undefined && place === 'header')) continue;
      drafts.push(
        about(operation, pointer, {
          code: policy === undefined ? 'credential_place_unknown' : 'credential_place',
          message:
            policy === undefined
              ? `${nameOf(pointer)} sends the credential ${show(id)} in the ${place}; only its own policy can allow that`
              : `${nameOf(pointer)} sends the credential ${show(id)} in the ${place}; it may be sent in ${policy.join(' and ')} only`,
          suggestion: 'put it into a header',
        }),
      );
    }
  }
  return drafts;
};

interface UsableIds {
  /** The ids that can be named in a suggestion. */
  readonly all: readonly string[];
  has(id: string): boolean;
}

function usableIds(
  permitted: readonly string[] | undefined,
  existing: Readonly<Record<string, unknown>> | undefined,
): UsableIds | undefined {
  if (permitted === undefined && existing === undefined) return undefined;
  const mayUse = (id: string) => permitted === undefined || permitted.includes('*') || permitted.includes(id);
  const exists = (id: string) => existing === undefined || Object.hasOwn(existing, id);
  const all = existing === undefined ? (permitted ?? []) : Object.keys(existing);
  return { all: all.filter(mayUse), has: (id) => mayUse(id) && exists(id) };
}
