import type { E2AEnvelope, Failure } from '@dragoman/protocols';
import { allows, type Principal } from '../call/principal.ts';
import type { NetworkGate } from '../gate/network-gate.ts';
import { credentialRefused } from '../vault/credential-refused.ts';

/** The vault's entries that an envelope names (E2A §13): what they hold is sent to the agent in their place. */
export interface CredentialRefs {
  /** Proves who is calling. */
  readonly credential: string | undefined;
  readonly apiKey: string | undefined;
}

export function credentialRefs({ auth }: E2AEnvelope): CredentialRefs {
  return { credential: auth?.credential_ref ?? undefined, apiKey: auth?.api_key_ref ?? undefined };
}

/** As it stands in the record of a credential's use. */
export function purposeOf({ request_id: requestId }: E2AEnvelope): string {
  return `request ${requestId ?? ''}`;
}

/** Why they may not be used, which is then on record; `undefined` when the caller may use each. */
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
  /** The way to the agent that would be sent them. */
  readonly gate: NetworkGate;
  readonly url: URL;
}
