import type { HostPort } from './host-port.ts';
import type { Fill, PlacedCredential } from './injection.ts';
import type { Redactor } from './redactor.ts';

/** Where the gate has its secrets from: the vault. */
export interface Secrets {
  /** Throws `Refused` unless each may go to this host, in its place. Nothing is released by it; a refusal is recorded. */
  admit(uses: readonly PlacedCredential[], use: SecretUse): void;
  /** Records an attempt to use it without permission. */
  noteRefusal(id: string, use: SecretUse): void;
  /** Records the use, durably, and only then hands out the secrets. */
  release(uses: readonly PlacedCredential[], use: SecretUse): Promise<ReleasedSecrets>;
  /** Finds the secrets that this host could send back; `undefined` if none is bound to it. */
  redactorFor(host: HostPort): Redactor | undefined;
}

export interface SecretUse {
  readonly caller: string;
  readonly to: HostPort;
  /** The request or operation it is for. */
  readonly purpose: string | undefined;
}

export interface ReleasedSecrets {
  /** Which ones, by id and version: connections are not shared over different ones. */
  readonly key: string;
  readonly fill: Fill;
}
