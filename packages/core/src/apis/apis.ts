import { accept, type Issue, issuesOf, type Json, type Outcome, reject, show } from '@dragoman/protocols';
import type { Gate } from '../gate/gate.ts';
import { decodeHostPort, hostPortOf, nameOfHostPort } from '../gate/host-port.ts';
import { ApiDefinition as validate } from '../generated/apis.js';
import type { Clock, Log } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import type { ApiStore } from '../store/apis.ts';
import { OwnWrites } from '../store/own-writes.ts';
import type { Api, ApiCatalogue } from './api.ts';
import { decodeBaseUrl } from './base-url.ts';
import { ApiDefinition, type ApiShape } from './definition.ts';
import { nameIssues } from './given-name.ts';
import { apiFromOpenApi } from './openapi.ts';

export interface ApisOptions {
  readonly store: ApiStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Decides whether a base URL may be called. Default: every https URL. */
  readonly gate?: Pick<Gate, 'check'>;
}

/** The APIs of the configuration, which a reload replaces, and those that administration adds and removes. */
export class Apis implements ApiCatalogue {
  readonly #store: ApiStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #gate: Pick<Gate, 'check'> | undefined;
  #configured: ReadonlyMap<string, Api> = new Map();
  readonly #administered = new Map<string, Api>();
  readonly #writes = new OwnWrites();
  /** Increases with every change. */
  version = 0;

  constructor({ store, clock, log, gate }: ApisOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#gate = gate;
  }

  /** Reads all APIs. Call it once. */
  async load(configured: Readonly<Record<string, ApiShape>> = {}): Promise<void> {
    await this.configure(configuredApis(configured));
    await this.reload();
  }

  /**
   * Reads the APIs of administration; called again after another process has changed them. `false`: call it once more.
   */
  reload(): Promise<boolean> {
    return this.#writes.reading(
      () => this.#store.list(),
      (rows, isOwn) => {
        const there = new Set(rows.map(({ apiId }) => apiId));
        for (const id of this.#administered.keys()) if (!there.has(id) && !isOwn(id)) this.#administered.delete(id);
        for (const { apiId, definition } of rows) {
          if (!isOwn(apiId)) this.#administered.set(apiId, JSON.parse(definition) as Api);
        }
        this.version += 1;
      },
    );
  }

  /** Replaces the APIs of the configuration. An API that the gate refuses is logged as a warning, and kept. */
  async configure(apis: ReadonlyMap<string, Api>): Promise<void> {
    this.#configured = apis;
    this.version += 1;
    for (const { id, base_url } of apis.values()) {
      const issue = await this.#gateIssue(base_url);
      if (issue !== undefined) this.#log.warn({ api: id, reason: issue.message }, 'this API cannot be called');
    }
  }

  /** Creates or replaces an API. Refuses an API whose host the gate refuses, or whose id is in the configuration. */
  async put(api: Api): Promise<'made' | 'replaced'> {
    this.#refuseConfigured(api.id);
    const issue = await this.#gateIssue(api.base_url);
    if (issue !== undefined) refuse('invalid_message', { issues: [issue] }, issue.message);
    return this.#writes.of(api.id, async () => {
      await this.#store.put({
        apiId: api.id,
        definition: JSON.stringify(api),
        createdAt: this.#clock.now().getTime(),
      });
      const known = this.#administered.has(api.id);
      this.#administered.set(api.id, api);
      this.version += 1;
      return known ? 'replaced' : 'made';
    });
  }

  async remove(id: string): Promise<boolean> {
    this.#refuseConfigured(id);
    return this.#writes.of(id, async () => {
      const removed = await this.#store.remove(id);
      this.#administered.delete(id);
      this.version += 1;
      return removed;
    });
  }

  find(id: string): Api | undefined {
    return this.#configured.get(id) ?? this.#administered.get(id);
  }

  list(): readonly Api[] {
    return [...new Map([...this.#administered, ...this.#configured]).values()];
  }

  isConfigured(id: string): boolean {
    return this.#configured.has(id);
  }

  #refuseConfigured(id: string): void {
    if (!this.#configured.has(id)) return;
    const suggestions = [`change apis.${id} in dragoman.yaml`, 'or choose another id'];
    refuse(
      'conflict',
      { suggestions },
      `The API ${show(id)} is in the configuration file and can be changed there only.`,
    );
  }

  /** Why the gate refuses a base URL. A host that cannot be reached at the moment is not refused. */
  async #gateIssue(url: string): Promise<Issue | undefined> {
    if (this.#gate === undefined)
      return url.startsWith('https:')
        ? undefined
        : gateIssue(url, 'Outbound request blocked: plain http is not allowed.');
    const failed = await this.#gate.check(url, 'allow');
    const isRefusal = failed?.code === 'forbidden' || failed?.code === 'invalid_message';
    return failed !== undefined && isRefusal ? gateIssue(url, failed.message) : undefined;
  }
}

/** The APIs of a configuration. Throws if one of them is invalid. */
export function configuredApis(shapes: Readonly<Record<string, ApiShape>>): ReadonlyMap<string, Api> {
  return new Map(
    Object.entries(shapes).map(([id, shape]) => {
      const decoded = decodeApi(id, shape);
      if (!decoded.ok) throw new Error(`apis.${id}: ${decoded.issues.map(({ message }) => message).join('; ')}`);
      return [id, decoded.value];
    }),
  );
}

/** An API as administration sends it, or every problem. Warnings name what was left out of an OpenAPI document. */
export function decodeApi(id: string, json: Json | ApiShape): Outcome<Api> {
  const issues: Issue[] = [...nameIssues('an API', id), ...issuesOf(validate, ApiDefinition, json)];
  if (issues.length > 0) return reject(...issues);
  const { openapi, ...given } = json as ApiDefinition;
  const read = openapi === undefined ? accept<Partial<ApiShape>>({}) : apiFromOpenApi(openapi as Json);
  if (!read.ok) return read;
  const {
    base_url,
    description = null,
    endpoints = [],
    accepts_data_from,
    allow_unlisted,
  } = { ...read.value, ...given };
  if (base_url === undefined) return reject(openapi === undefined ? NO_URL : NO_SERVER);
  const url = decodeBaseUrl(base_url);
  if (!url.ok) return given.base_url === undefined ? reject(...url.issues.map(ofDocument)) : url;
  const twice = repeated(endpoints);
  if (twice.length > 0) return reject(...twice);
  const sources = accepts_data_from === undefined ? undefined : hostNames(accepts_data_from);
  if (sources?.ok === false) return sources;
  const api: Api = {
    id,
    base_url: url.value,
    description,
    endpoints: endpoints.map((endpoint) => ({ description: null, ...endpoint })),
    ...(allow_unlisted !== undefined && { allow_unlisted }),
    ...(sources !== undefined && { accepts_data_from: sources.value }),
  };
  return accept(api, read.warnings);
}

/** The issue of a base URL that an OpenAPI document gives: such a URL may be relative to the document's own. */
function ofDocument(issue: Issue): Issue {
  return { ...issue, suggestion: BESIDE_DOCUMENT };
}

function repeated(endpoints: NonNullable<ApiShape['endpoints']>): Issue[] {
  const seen = new Set<string>();
  return endpoints.flatMap(({ method, path }, index) => {
    const name = `${method} ${path}`;
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [
      { pointer: `/endpoints/${index}`, code: 'repeated', message: `${name} must be given only once; it is repeated` },
    ];
  });
}

/** Hosts as credentials name them; `*` stays unchanged. */
function hostNames(texts: readonly string[]): Outcome<readonly string[]> {
  const decoded = texts.map((text, index) =>
    text === '*' ? accept(text) : hostName(text, `/accepts_data_from/${index}`),
  );
  const issues = decoded.flatMap((outcome) => (outcome.ok ? [] : outcome.issues));
  if (issues.length > 0) return reject(...issues);
  return accept([...new Set(decoded.flatMap((outcome) => (outcome.ok ? [outcome.value] : [])))]);
}

function hostName(text: string, pointer: string): Outcome<string> {
  const decoded = decodeHostPort(text, pointer);
  return decoded.ok ? accept(nameOfHostPort(decoded.value)) : decoded;
}

function gateIssue(url: string, why: string): Issue {
  return {
    pointer: '/base_url',
    code: 'base_url',
    message: `base_url must be an allowed destination; got ${show(url)}. ${why}`,
    suggestion: `use https, or add ${hostIn(url)} to gate.allow in dragoman.yaml`,
  };
}

/** The host of a URL, in the form for `gate.allow`. */
function hostIn(url: string): string {
  return URL.canParse(url) ? nameOfHostPort(hostPortOf(new URL(url))) : 'the host';
}

const NO_URL: Issue = {
  pointer: '/base_url',
  code: 'required',
  message: 'base_url is required but missing',
  suggestion: 'write it like https://api.example.com/v1, or give an openapi document that names its server',
};

const BESIDE_DOCUMENT = 'give base_url beside the document, like https://api.example.com/v1';

const NO_SERVER: Issue = {
  pointer: '/base_url',
  code: 'required',
  message: 'base_url is required, because the openapi document names no server',
  suggestion: BESIDE_DOCUMENT,
};
