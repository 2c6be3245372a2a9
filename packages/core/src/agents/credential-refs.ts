import type { E2AEnvelope, Failure } from '@dragoman/protocols';
import { allows, type Principal } from '../call/principal.ts';
import type { NetworkGate } from '../gate/network-gate.ts';
import { credentialRefused } from '../vault/credential-refused.ts';

/** The vault entries that an envelope references (E2A §13). Their secrets are sent to the agent instead. */
export interface CredentialRefs {
  /** The credential that authenticates the caller. */
  readonly credential: string | undefined;
  readonly apiKey: string | undefined;
}

export function credentialRefs({ auth }: E2AEnvelope): CredentialRefs {
  return { credential: auth?.credential_ref ?? undefined, apiKey: auth?.api_key_ref ?? undefined };
}

/** The purpose in the record of a credential's use. */
export function purposeOf({ request_id: requestId }: E2AEnvelope): string {
  return `request ${requestId ?? ''}`;
}

/** Why the caller may not use one of the references; `undefined` when it may use all. Refusals are recorded. */
export function refusedRef(envelope: E2AEnvelope, { principal, gate, url }: RefUse): Failure | undefined {
  const { credential, apiKey } = credentialRefs(envelope);
  const named = new Set([credential, apiKey].filter((id) => id !== undefined));
  const refused = [...named].filter((id) => !allows(principal.permissions.credentials, id));
  for (const id of refused) {
    gate.noteRefusal(id, { url: url.href, caller: principal.id, purpose: purposeOf(envelope) });
  }
  return refused[0] === undefined ? undefined : credentialRefused(refused[0]);
}

interface RefUse {
  readonly principal: Principal;
  /** The gate to the agent that would receive the secrets. */
  readonly gate: NetworkGate;
  readonly url: URL;
}
