import type { Json } from '@dragoman/protocols';
import type { Clock, Log } from '../ports/ports.ts';
import type { Elsewhere, RunControl } from '../runs/elsewhere.ts';
import type { FrameSource } from '../runs/reading.ts';
import type { Runs } from '../runs/runs.ts';
import type { ClusterStore } from '../store/cluster.ts';
import type { RequestKey, RequestRow } from '../store/store.ts';
import type { Cluster, ClusterListener } from './cluster.ts';
import { FollowedAnswers } from './followed-answers.ts';
import { Watchers } from './watchers.ts';

export interface RemoteRunsOptions {
  readonly store: ClusterStore;
  readonly runs: Runs;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
}

/** Gives the runs of this node access to requests on other nodes, and them access to its own. */
export class RemoteRuns implements Elsewhere, ClusterListener {
  readonly #options: RemoteRunsOptions;
  readonly #followed: FollowedAnswers;
  readonly #watchers: Watchers;

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
    const logged = (error: unknown) => options.log.warn({ error: String(error) }, 'requests of other nodes wait');
    words.hear('run', () => void this.#takeHandedOver().catch(logged));
    words.hear('moved', ([request]) => runs.loseHere(Number(request)));
    runs.join(this);
    runs.table.isFenced = () => cluster.isFenced;
    cluster.listen(this);
  }

  follow(key: RequestKey, signal?: AbortSignal): FrameSource {
    return this.#followed.follow(key, signal);
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
    for (const claimed of await store.takeHandedOver()) await runs.adopt(claimed);
  }

  lost(): void {
    this.#watchers.forget();
    this.#options.runs.letGo();
  }
}

const CONTROL = 'runs.control';
const MOST_TRIES = 20;
const PAUSE_MS = 1000;
