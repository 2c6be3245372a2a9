import type { E2AEnvelope, Failure } from '@dragoman/protocols';
import { allows, type Principal } from '../principal.ts';
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

/** Why they may not be used; `undefined` when the caller may use each. */
export function refusedRef({ credential, apiKey }: CredentialRefs, { permissions }: Principal): Failure | undefined {
  const refused = [credential, apiKey].find((id) => id !== undefined && !allows(permissions.credentials, id));
  return refused === undefined ? undefined : credentialRefused(refused);
}
