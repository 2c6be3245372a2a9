import type { Http } from './http.ts';

/** An API that workflows may call. */
export interface ApiInput {
  /** May be left out where the OpenAPI document names its server. */
  readonly base_url?: string;
  readonly description?: string;
  readonly endpoints?: readonly {
    readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
    readonly path: string;
    readonly description?: string;
  }[];
  /** Hosts whose data, fetched with a credential, workflows may send here; `"*"` is any host. Default: none. */
  readonly accepts_data_from?: readonly string[];
  /** Agents without `apis: ["*"]` may call paths that `endpoints` does not list. */
  readonly allow_unlisted?: boolean;
  /** An OpenAPI 3 or Swagger 2 document. */
  readonly openapi?: { readonly [member: string]: unknown };
}

/** An API as the server keeps it. */
export interface KeptApi {
  readonly id: string;
  readonly base_url: string;
  readonly description: string | null;
  readonly endpoints: readonly {
    readonly method: string;
    readonly path: string;
    readonly description: string | null;
  }[];
  readonly accepts_data_from?: readonly string[];
  /** An API of the configuration can be changed only there. */
  readonly from: 'config' | 'admin';
}

export class ApiAdmin {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  async list(): Promise<readonly KeptApi[]> {
    return (await this.#http.json<{ apis: readonly KeptApi[] }>({ path: APIS, gives: { apis: 'array' } })).apis;
  }

  /** Creates or replaces an API. `warnings` lists the omitted parts of an OpenAPI document. */
  put(id: string, api: ApiInput): Promise<KeptApi & { readonly warnings?: readonly string[] }> {
    return this.#http.json({ method: 'PUT', path: pathOf(id), body: JSON.stringify(api), gives: KEPT });
  }

  get(id: string): Promise<KeptApi> {
    return this.#http.json({ path: pathOf(id), gives: KEPT });
  }

  remove(id: string): Promise<{ id: string; removed: true }> {
    return this.#http.json({ method: 'DELETE', path: pathOf(id), gives: { removed: 'boolean' } });
  }
}

function pathOf(id: string): string {
  return `${APIS}/${encodeURIComponent(id)}`;
}

const KEPT = { id: 'string', base_url: 'string', endpoints: 'array' } as const;
const APIS = 'admin/v1/apis';
