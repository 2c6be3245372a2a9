import { show } from '../../validation.ts';
import { nameOf } from '../member.ts';
import { parseUrlTemplate, type UrlParts } from '../template.ts';
import { about, type CheckContext, type Draft, type Examined } from './rule.ts';
import { apiOf, hostName, hostsOf, isHost } from './url.ts';

/**
 * Tracks which results contain data fetched with a credential, and finds calls that would send it to another
 * host. The engine checks again at run time; this check sees only what the workflow shows.
 */
export class Labels {
  readonly drafts: Draft[] = [];
  readonly #context: CheckContext;
  /** The data that each operation fetches with credentials, kept because operations in loops are visited repeatedly. */
  readonly #fetched = new Map<string, readonly Fetched[]>();
  /** The calls whose data each result contains. */
  readonly #of = new Map<string, ReadonlySet<Fetched>>();

  constructor(context: CheckContext) {
    this.#context = context;
  }

  /** Handles an operation that reads the results of others. */
  step(operation: Examined, writers: readonly PlaceWriter[]): void {
    const inputs = new Set<Fetched>();
    const urls = operation.uses.urls.flatMap(({ text }) => {
      const parsed = parseUrlTemplate(text);
      return parsed.ok ? [parsed.url] : [];
    });
    for (const { pointer, by } of writers) {
      for (const fetched of by.flatMap((id) => [...(this.#of.get(id) ?? [])])) {
        inputs.add(fetched);
        for (const url of urls) this.#judge(operation, pointer, fetched, url);
      }
    }
    for (const url of urls) for (const fetched of this.#fetchedBy(operation, url)) inputs.add(fetched);
    this.#add(operation.id, inputs);
  }

  /** Handles an operation whose result is that of an operation it ran. */
  passOn(from: string, to: string): void {
    this.#add(to, this.#of.get(from) ?? new Set());
  }

  #add(id: string, fetched: ReadonlySet<Fetched>): void {
    if (fetched.size > 0) this.#of.set(id, new Set([...(this.#of.get(id) ?? []), ...fetched]));
  }

  #judge(operation: Examined, pointer: string, { by, url: source, hosts }: Fetched, url: UrlParts): void {
    if (hosts.some((host) => isHost(host, url)) || hostName(source) === hostName(url)) return;
    const match = apiOf(url, this.#context.apis ?? {});
    const accepted = match?.api.accepts_data_from ?? [];
    if (accepted.includes('*') || accepted.some((host) => isHost(host, source))) return;
    const message = `${nameOf(pointer)} sends data to ${hostName(url)} that ${by} fetched from ${hostName(source)} with a credential; no rule allows that`;
    const entry = match === undefined ? `register ${url.origin} as an API with` : `add to the API ${match.id}`;
    const suggestion = `the operator can allow it: ${entry} accepts_data_from: [${show(hostName(source))}]`;
    this.drafts.push(about(operation, pointer, { code: 'data_flow', message, suggestion }));
  }

  /** Skips credentials whose hosts are unknown; `usableCredentials` reports those that the caller cannot use. */
  #fetchedBy({ id: by, uses }: Examined, url: UrlParts): readonly Fetched[] {
    const known = this.#fetched.get(by);
    if (known !== undefined) return known;
    const fetched = uses.credentials.flatMap(({ id }) => {
      const hosts = hostsOf(id, this.#context);
      return hosts === undefined ? [] : [{ by, url, hosts }];
    });
    this.#fetched.set(by, fetched);
    return fetched;
  }
}

/** A place of a configuration, and the writers of the value it reads. */
export interface PlaceWriter {
  readonly pointer: string;
  readonly by: readonly string[];
}

/** The data that one call fetched with one credential. */
interface Fetched {
  readonly by: string;
  readonly url: UrlParts;
  readonly hosts: readonly string[];
}
