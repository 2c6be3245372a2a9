/** An API that callers may be allowed to use, by id. */
export interface Api {
  readonly id: string;
  readonly base_url: string;
  readonly description: string | null;
  readonly endpoints: readonly ApiEndpoint[];
  /** Whether callers without `apis: ["*"]` may also call paths that `endpoints` does not list. Default: false. */
  readonly allow_unlisted?: boolean;
  /** The hosts whose data, fetched with a credential, may be sent to this API; `*` means any host. Default: none. */
  readonly accepts_data_from?: readonly string[];
}

export interface ApiEndpoint {
  readonly method: string;
  /** A path below the base URL; `{name}` stands for one segment. */
  readonly path: string;
  readonly description: string | null;
}

/** All APIs: those of the configuration, and those that administration has added. */
export interface ApiCatalogue {
  /** Increases with every change. */
  readonly version: number;
  list(): readonly Api[];
  find(id: string): Api | undefined;
}
