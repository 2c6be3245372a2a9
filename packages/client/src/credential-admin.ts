import type { Http } from './http.ts';

/** A secret for the vault. */
export interface CredentialDefinition {
  /** `bearer-token` is sent in a header as `Bearer VALUE`; the others unchanged. */
  readonly type: 'bearer-token' | 'api-key' | 'password' | 'username';
  /** The secret. It is never returned. */
  readonly value: string;
  /** Where the secret may be sent: `host` (port 443) or `host:port`. Required unless `places` has only `env`. */
  readonly hosts?: readonly string[];
  /**
   * The places in a request that the secret may be sent in; `env` is the environment of a program of the configuration.
   * Default: `header`.
   */
  readonly places?: readonly ('header' | 'query' | 'body' | 'env')[];
  readonly description?: string;
}

/** A credential without its secret. */
export interface Credential {
  readonly id: string;
  readonly type: CredentialDefinition['type'];
  readonly hosts: readonly string[];
  readonly places: readonly ('header' | 'query' | 'body' | 'env')[];
  readonly description: string | null;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** The credential was changed outside the vault, and is no longer used. */
  readonly damaged?: true;
}

/** A credential with its last uses, the latest first. */
export interface UsedCredential extends Credential {
  readonly uses: readonly {
    readonly at: string;
    readonly caller: string;
    readonly version: number;
    readonly host: string;
    /** The request or operation that used the credential. */
    readonly purpose: string | null;
    readonly outcome: string;
  }[];
}

/** Administration of the vault. Answers never contain secrets. */
export class CredentialAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async list(): Promise<readonly Credential[]> {
    return (
      await this.#http.json<{ credentials: readonly Credential[] }>({
        path: CREDENTIALS,
        gives: { credentials: 'array' },
      })
    ).credentials;
  }

  /** A credential with its last uses. */
  get(id: string): Promise<UsedCredential> {
    const path = `${CREDENTIALS}/${encodeURIComponent(id)}`;
    return this.#http.json({ path, gives: { id: 'string', uses: 'array' } });
  }

  /** Creates or replaces a credential. */
  put(id: string, definition: CredentialDefinition): Promise<Credential> {
    const path = `${CREDENTIALS}/${encodeURIComponent(id)}`;
    return this.#http.json({
      method: 'PUT',
      path,
      body: JSON.stringify(definition),
      gives: { id: 'string', version: 'number', hosts: 'array' },
    });
  }

  remove(id: string): Promise<{ id: string; removed: true }> {
    return this.#http.json({
      method: 'DELETE',
      path: `${CREDENTIALS}/${encodeURIComponent(id)}`,
      gives: { removed: 'boolean' },
    });
  }

  /**
   * Seals all credentials with a new key. `key` is needed if the old one is in the environment; otherwise the server
   * generates one.
   */
  rotate(key?: string): Promise<{ rotated: true }> {
    const body = JSON.stringify(key === undefined ? {} : { key });
    return this.#http.json({ method: 'POST', path: 'admin/v1/vault/rotate', body, gives: { rotated: 'boolean' } });
  }
}

const CREDENTIALS = 'admin/v1/credentials';
