import type { Allowed } from '@dragoman/protocols';
import { isWireErrorCode, WIRE_ERRORS } from '@dragoman/protocols/a2e-wire';
import type { Permissions } from '../call/principal.ts';
import type { AuditEntry } from '../tools/wire/audit.ts';
import { NO_CHANGES } from './changes.ts';
import type { ExplainContext, Explained } from './explain-context.ts';
import { BY_PERMISSIONS_NOW, permissionList, permissionRule } from './permission-rule.ts';

/**
 * A request on the wire, from its line in the audit. Wire calls are audited, not journaled: the audit has the caller
 * and the call but no contents, so there is no text, envelope or frame to show.
 */
export function explainWire(
  { ts, req_id, agent_id, type, name, success, error_code, input_bytes, ...rest }: AuditEntry,
  { principalNamed }: Pick<ExplainContext, 'principalNamed'>,
): Explained {
  const isRefused = REFUSALS.has(error_code);
  const permissions = isRefused ? undefined : principalNamed(agent_id)?.permissions;
  return {
    request_id: req_id,
    kind: 'wire',
    agent_id,
    accepted_at: new Date(ts * 1000 - rest.duration_ms).toISOString(),
    state: success ? 'succeeded' : 'failed',
    received: { dialect: 'a2e-wire', bytes: input_bytes, text: null, note: NOT_KEPT },
    envelope: null,
    allowed: [
      {
        who: agent_id,
        known_by: knownBy(rest),
        what: 'to open the session',
        rule: 'allowed for every caller with a key',
      },
      ...(permissions === undefined ? [] : callOf({ agent_id, type, name }, permissions)),
    ],
    way_in: { ...NO_CHANGES, warnings: [] },
    answers: [],
    answers_left_out: 0,
    outcome: { type, name, success, error_code, ...meaningOf(error_code), ...rest },
    callbacks: [],
  };
}

function knownBy({ key_id: keyId, session_id: session }: Pick<AuditEntry, 'key_id' | 'session_id'>): string {
  return keyId === undefined || keyId === '' ? `session ${session}` : `key ${keyId}, session ${session}`;
}

/** The permission that a call needs: of a tool by its name, of a skill by its agent. */
function callOf(
  { agent_id: who, type, name }: Pick<AuditEntry, 'agent_id' | 'type' | 'name'>,
  permissions: Permissions,
): Allowed[] {
  const known = { who, known_by: BY_PERMISSIONS_NOW };
  if (type === 'tool/call/req') {
    return [{ ...known, what: `to call the tool ${name}`, rule: permissionRule(permissions, 'tools', name) }];
  }
  if (type !== 'skill/call/req') return [];
  return [{ ...known, what: `to call the skill ${name}`, rule: permissionList(permissions, 'agents') }];
}

/** The meaning of the protocol's error codes; tools have their own codes. */
function meaningOf(code: string): { readonly meaning?: string } {
  return isWireErrorCode(code) ? { meaning: WIRE_ERRORS[code].meaning } : {};
}

/** The errors of refused requests: there was no call, so there is no permission to show. */
const REFUSALS: ReadonlySet<string> = new Set([
  ...['invalid_message', 'schema_violation', 'unknown_type', 'unauthorized', 'capability_missing', 'not_found'],
  ...['busy', 'rate_limited'],
]);
const NOT_KEPT = 'the contents of wire messages are not kept';
