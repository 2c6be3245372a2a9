/** An API that callers may be allowed to use, by id. */
export interface Api {
  readonly id: string;
  readonly base_url: string;
  readonly description: string | null;
  readonly endpoints: readonly ApiEndpoint[];
  /** Callers without `*` may call other paths than `endpoints` too. */
  readonly allow_unlisted?: boolean;
  /** The hosts whose data, fetched with a credential, may be sent here; `*` is any. None where it is left out. */
  readonly accepts_data_from?: readonly string[];
}

export interface ApiEndpoint {
  readonly method: string;
  /** Below the base URL; `{name}` stands for one segment. */
  readonly path: string;
  readonly description: string | null;
}

/** The APIs there are: those of the configuration and those of the administration. */
export interface ApiCatalogue {
  /** Another number after every change. */
  readonly version: number;
  list(): readonly Api[];
  find(id: string): Api | undefined;
}
