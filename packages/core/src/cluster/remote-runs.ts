import { type E2AAuth, isObject, type Json } from '@dragoman/protocols';
import type { Clock, Log } from '../ports/ports.ts';
import type { Elsewhere, RunControl } from '../runs/elsewhere.ts';
import { recordedEnvelope } from '../runs/envelope-record.ts';
import { requestName } from '../runs/live-request.ts';
import type { FrameSource } from '../runs/reading.ts';
import type { Runs } from '../runs/runs.ts';
import type { ClusterStore } from '../store/cluster.ts';
import type { Claimed, RequestKey, RequestRow } from '../store/store.ts';
import type { Vault } from '../vault/vault.ts';
import type { Cluster, ClusterListener } from './cluster.ts';
import { FollowedAnswers } from './followed-answers.ts';
import { Watchers } from './watchers.ts';

export interface RemoteRunsOptions {
  readonly store: ClusterStore;
  readonly runs: Runs;
  readonly cluster: Cluster;
  readonly vault: Pick<Vault, 'seal' | 'unseal'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Gives the runs of this node access to requests on other nodes, and them access to its own. */
export class RemoteRuns implements Elsewhere, ClusterListener {
  readonly #options: RemoteRunsOptions;
  readonly #followed: FollowedAnswers;
  readonly #watchers: Watchers;
  /** The readers here of requests that other nodes answer, by the name of the request. */
  readonly #readers = new Map<string, number>();
  /** What other nodes have given for requests that they record for this one. */
  readonly #auth = new Map<string, E2AAuth>();

  constructor(options: RemoteRunsOptions) {
    const { store, runs, cluster } = options;
    const { words, calls } = cluster;
    this.#options = options;
    this.#followed = new FollowedAnswers({ store, words, pages: runs.pages });
    this.#watchers = new Watchers({ words, durableHere: (request) => runs.durableHere(request) });
    calls.serve(CONTROL, async (params) => {
      const { request, control } = params as unknown as { request: number; control: RunControl };
      return runs.controlHere(request, control);
    });
    calls.serve(IS_READ, async (params) => {
      const key = params as unknown as RequestKey;
      return this.#readers.has(requestName(key)) || runs.isReadHere(key);
    });
    calls.serve(AUTH, async (params) => this.#keepAuth(params as unknown as GivenAuth));
    calls.serve(AUTH_OF, async (request) => {
      const waiting = runs.authHere(Number(request));
      return waiting === undefined ? null : { ...(await this.#sealed(waiting.key, waiting.auth)) };
    });
    const logged = (error: unknown) => options.log.warn({ error: String(error) }, 'requests of other nodes wait');
    words.hear('run', () => void this.#takeHandedOver().catch(logged));
    words.hear('moved', ([request]) => runs.loseHere(Number(request)));
    runs.join(this);
    runs.table.isFenced = () => cluster.isFenced;
    cluster.listen(this);
  }

  follow(key: RequestKey, signal?: AbortSignal): FrameSource {
    const source = this.#followed.follow(key, signal);
    return signal === undefined || signal.aborted ? source : this.#counted(source, requestName(key), signal);
  }

  /** Counts a reader until it has read the end, or its signal aborts. */
  #counted(source: FrameSource, name: string, signal: AbortSignal): FrameSource {
    let isGone = false;
    const leave = () => {
      if (isGone) return;
      isGone = true;
      signal.removeEventListener('abort', leave);
      const left = (this.#readers.get(name) ?? 0) - 1;
      if (left > 0) this.#readers.set(name, left);
      else this.#readers.delete(name);
    };
    this.#readers.set(name, (this.#readers.get(name) ?? 0) + 1);
    signal.addEventListener('abort', leave);
    return {
      after: async (sequence) => {
        const rows = await source.after(sequence);
        if (rows.at(-1)?.isFinal !== false) leave();
        return rows;
      },
      ready: async (sequence) => source.ready?.(sequence),
    };
  }

  async isRead({ owner, requestId }: RequestKey): Promise<boolean> {
    const { store, cluster } = this.#options;
    if (this.#readers.has(requestName({ owner, requestId }))) return true;
    if ((await store.openRequest({ owner, requestId })) === undefined) return false;
    // A node that does not answer may have readers, until it is declared dead.
    const answers = await cluster.calls.askOthers(IS_READ, { owner, requestId });
    return answers.some((isRead) => isRead === true || isRead === undefined);
  }

  async giveAuth(node: number, { owner, requestId }: RequestKey, auth: E2AAuth): Promise<void> {
    await this.#options.cluster.calls.ask(node, AUTH, { ...(await this.#sealed({ owner, requestId }, auth)) });
  }

  /** Asks for what is not recorded of a request that has waited at another node, before it is answered here. */
  async fetchAuth(node: number, { row, held }: Claimed<RequestRow>): Promise<void> {
    if (recordedEnvelope(row.envelope).auth === null) return;
    const { cluster, log } = this.#options;
    try {
      const given = await cluster.calls.ask(node, AUTH_OF, held.id);
      if (isObject(given ?? null)) await this.#keepAuth(given as unknown as GivenAuth);
    } catch (error) {
      // It is claimed already, so it is answered without them.
      log.warn(
        { request_id: row.requestId, error: String(error) },
        'the credentials of a request did not reach its node',
      );
    }
  }

  async #sealed({ owner, requestId }: RequestKey, auth: E2AAuth): Promise<GivenAuth> {
    const sealed = await this.#options.vault.seal(JSON.stringify(auth), requestName({ owner, requestId }));
    return { owner, requestId, sealed };
  }

  /** It is gone soon, in case the request is not recorded. */
  async #keepAuth({ sealed, ...key }: GivenAuth): Promise<boolean> {
    const { vault, clock } = this.#options;
    const name = requestName(key);
    const text = await vault.unseal(sealed, name);
    if (text === undefined) return false;
    const auth = JSON.parse(text) as E2AAuth;
    this.#auth.set(name, auth);
    clock.after(AUTH_KEPT_MS, () => {
      // The request may have been given again since.
      if (this.#auth.get(name) === auth) this.#auth.delete(name);
    });
    return true;
  }

  takeAuth(key: RequestKey): E2AAuth | undefined {
    const name = requestName(key);
    const auth = this.#auth.get(name);
    this.#auth.delete(name);
    return auth;
  }

  async control(key: RequestKey, control: RunControl): Promise<boolean> {
    const { store, cluster, clock, log } = this.#options;
    try {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const open = await store.openRequest(key);
        if (open === undefined) return false;
        const params = { request: open.request, control } as unknown as Json;
        if ((await cluster.calls.ask(open.holder, CONTROL, params)) === true) return true;
        // It ended just now, or its node is gone and another takes it over.
        await clock.wait(PAUSE_MS);
      }
    } catch (error) {
      log.warn({ request_id: key.requestId, error: String(error) }, 'calling the node that answers a request failed');
    }
    return false;
  }

  running(owner: string): Promise<readonly RequestRow[]> {
    return this.#options.store.openOf(owner);
  }

  lineOf(agentId: string): Promise<number | undefined> {
    return this.#options.store.lineOf(agentId);
  }

  handOver(node: number): void {
    this.#options.cluster.words.send(node, 'run');
  }

  landed(request: number, next: number, isOver: boolean): void {
    this.#watchers.landed(request, next, isOver);
  }

  async beat(): Promise<void> {
    await this.#followed.look();
    await this.#lookForMoved();
    await this.#takeHandedOver();
  }

  /** The word about it may have been lost. */
  async #lookForMoved(): Promise<void> {
    const { store, runs } = this.#options;
    const waiting = runs.waitingHere();
    if (waiting.length === 0) return;
    for (const { request, holder } of await store.openRequests(waiting)) {
      if (holder !== store.node) runs.loseHere(request);
    }
  }

  async #takeHandedOver(): Promise<void> {
    const { store, runs } = this.#options;
    for (const claimed of await store.takeHandedOver()) await runs.takeHandedOver(claimed);
  }

  lost(): void {
    this.#watchers.forget();
    this.#options.runs.letGo();
  }
}

interface GivenAuth extends RequestKey {
  /** By the vault: calls between nodes are rows of the database. */
  readonly sealed: string;
}

const CONTROL = 'runs.control';
const IS_READ = 'runs.isRead';
const AUTH = 'runs.auth';
const AUTH_OF = 'runs.authOf';
const AUTH_KEPT_MS = 60_000;
const MOST_TRIES = 20;
const PAUSE_MS = 1000;
