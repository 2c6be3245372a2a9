import type { HostPort } from './host-port.ts';
import type { Fill, PlacedCredential } from './injection.ts';
import type { Redactor } from './redactor.ts';

/** The source of the gate's secrets, which the vault implements. */
export interface Secrets {
  /**
   * Throws `Refused` unless each credential may be sent to this host in its place. A refusal is recorded. Releases
   * nothing.
   */
  admit(uses: readonly PlacedCredential[], use: SecretUse): void;
  /** Records an attempt to use a credential without permission. */
  noteRefusal(id: string, use: SecretUse): void;
  /** Releases the secrets after their use is durably recorded. */
  release(uses: readonly PlacedCredential[], use: SecretUse): Promise<ReleasedSecrets>;
  /** Replaces the secrets that this host could send back; `undefined` if there is none. */
  redactorFor(host: HostPort): Redactor | undefined;
}

export interface SecretUse {
  readonly caller: string;
  readonly to: HostPort;
  /** The request or operation that uses the secrets. */
  readonly purpose: string | undefined;
}

export interface ReleasedSecrets {
  /** The credentials by id and version. Requests with different keys share no connection. */
  readonly key: string;
  readonly fill: Fill;
}
