import {
  type Finding,
  type FindingCode,
  type OwnOperations,
  operationNamed,
  parseUrlTemplate,
  usesOf,
  type Workflow,
} from '@dragoman/protocols/a2e-workflow';
import type { HostPort } from '../gate/host-port.ts';

/** A credential that a workflow was not allowed to send to a host. */
export interface RefusedCredential {
  readonly id: string;
  readonly to: HostPort;
  readonly operationId: string;
}

/**
 * The credentials because of which a workflow may not run, for the vault's record: the workflow never reaches the
 * vault.
 */
export function refusedCredentials(
  { operations }: Workflow,
  findings: readonly Finding[],
  own?: OwnOperations,
): readonly RefusedCredential[] {
  const refused: RefusedCredential[] = [];
  for (const { code, pointer, operationId = '' } of findings) {
    const operation = operations.get(operationId);
    if (!CODES.has(code) || operation === undefined) continue;
    const description = operationNamed(operation.type, own);
    if (description === undefined) continue;
    const { credentials, urls } = usesOf(description, operation.config);
    const use = credentials.find((each) => pointer.endsWith(each.pointer));
    const parsed = parseUrlTemplate(urls[0]?.text ?? '');
    if (use !== undefined && parsed.ok) refused.push({ id: use.id, to: parsed.url, operationId });
  }
  return refused;
}

const CODES: ReadonlySet<string> = new Set<FindingCode>([
  'credential_unavailable',
  'credential_place',
  'credential_host',
]);
