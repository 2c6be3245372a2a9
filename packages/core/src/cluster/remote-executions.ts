import type { Json, JsonObject } from '@dragoman/protocols';
import type { ExecutionsElsewhere, WaitOptions } from '../executions/elsewhere.ts';
import type { Executions } from '../executions/executions.ts';
import type { ExecutionEventRecord } from '../executions/live-execution.ts';
import type { Clock, Log } from '../ports/ports.ts';
import type { ClusterStore } from '../store/cluster.ts';
import type { ExecutionKey } from '../store/executions.ts';
import type { Cluster, ClusterListener } from './cluster.ts';

export interface RemoteExecutionsOptions {
  readonly store: ClusterStore;
  readonly executions: Executions;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
}

/** Gives this node access to executions on other nodes, and them access to its own. */
export class RemoteExecutions implements ExecutionsElsewhere, ClusterListener {
  readonly #options: RemoteExecutionsOptions;

  constructor(options: RemoteExecutionsOptions) {
    const { executions, cluster } = options;
    this.#options = options;
    cluster.calls.serve(CANCEL, async (key) => executions.cancelHere(key as unknown as ExecutionKey));
    cluster.calls.serve(EVENTS, async (params) => {
      const { after, waits, ...key } = params as unknown as ExecutionKey & EventsCall;
      return ((await executions.eventsHere(key, after, { waits })) ?? null) as unknown as Json;
    });
    cluster.calls.serve(PARKED, (key) => executions.isParkedHere(key as unknown as ExecutionKey));
    cluster.calls.serve(SO_FAR, async (key) => (await executions.soFarHere(key as unknown as ExecutionKey)) ?? null);
    executions.join(this);
    cluster.listen(this);
  }

  async cancel({ owner, executionId }: ExecutionKey): Promise<boolean> {
    const { store, cluster, clock, log } = this.#options;
    let isEnding = false;
    try {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const holder = await store.holderOf({ owner, executionId });
        if (holder === undefined) return isEnding;
        // After one call it ends as soon as its current effect is recorded.
        isEnding ||= (await cluster.calls.ask(holder, CANCEL, { owner, executionId } as Json)) === true;
        await clock.wait(PAUSE_MS);
      }
    } catch (error) {
      log.warn(
        { execution_id: executionId, error: String(error) },
        'a cancellation may not have reached the node that runs this execution',
      );
    }
    return isEnding;
  }

  async isRunning(key: ExecutionKey): Promise<boolean> {
    return (await this.#runnerOf(key)) !== undefined;
  }

  async eventsAfter(
    key: ExecutionKey,
    after: number,
    { waits = true }: WaitOptions = {},
  ): Promise<readonly ExecutionEventRecord[]> {
    const events = await this.#askRunner(key, EVENTS, { after, waits });
    if (Array.isArray(events)) return events as unknown as ExecutionEventRecord[];
    if (waits) await this.#pause();
    return [];
  }

  async isParked(key: ExecutionKey): Promise<boolean> {
    const isParked = await this.#askRunner(key, PARKED);
    if (typeof isParked !== 'boolean') await this.#pause();
    return isParked === true;
  }

  /** It ended just now, or its node is gone and another takes it over. */
  #pause(): Promise<void> {
    return this.#options.clock.wait(PAUSE_MS);
  }

  async soFar(key: ExecutionKey): Promise<string | undefined> {
    const text = await this.#askRunner(key, SO_FAR);
    return typeof text === 'string' ? text : undefined;
  }

  /** `undefined` when the node that runs it does not answer. */
  async #askRunner({ owner, executionId }: ExecutionKey, method: string, params: JsonObject = {}) {
    const { cluster, log } = this.#options;
    try {
      const runner = await this.#runnerOf({ owner, executionId });
      return runner && (await cluster.calls.ask(runner, method, { owner, executionId, ...params }));
    } catch (error) {
      log.debug({ execution_id: executionId, error: String(error) }, 'an execution could not be read from its node');
      return undefined;
    }
  }

  /** The other node that runs it. What a dead node held does not run until another node takes it over. */
  async #runnerOf(key: ExecutionKey): Promise<number | undefined> {
    const { store } = this.#options;
    const holder = await store.holderOf(key);
    return (await store.others()).find((node) => node === holder);
  }

  lost(): void {
    this.#options.executions.letGo();
  }
}

interface EventsCall {
  readonly after: number;
  readonly waits: boolean;
}

const CANCEL = 'executions.cancel';
const EVENTS = 'executions.events';
const PARKED = 'executions.parked';
const SO_FAR = 'executions.soFar';
const MOST_TRIES = 100;
const PAUSE_MS = 200;
