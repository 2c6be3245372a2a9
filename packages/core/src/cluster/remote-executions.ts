import type { Json } from '@dragoman/protocols';
import type { ExecutionsElsewhere } from '../executions/elsewhere.ts';
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
      const { after, ...key } = params as unknown as ExecutionKey & { readonly after: number };
      return ((await executions.eventsHere(key, after)) ?? null) as unknown as Json;
    });
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
      log.warn({ execution_id: executionId, error: String(error) }, 'calling the node that runs an execution failed');
    }
    return isEnding;
  }

  async isRunning(key: ExecutionKey): Promise<boolean> {
    return (await this.#runnerOf(key)) !== undefined;
  }

  async eventsAfter({ owner, executionId }: ExecutionKey, after: number): Promise<readonly ExecutionEventRecord[]> {
    const { cluster, clock, log } = this.#options;
    try {
      const runner = await this.#runnerOf({ owner, executionId });
      const events = runner && (await cluster.calls.ask(runner, EVENTS, { owner, executionId, after }));
      if (Array.isArray(events)) return events as unknown as ExecutionEventRecord[];
    } catch (error) {
      log.debug(
        { execution_id: executionId, error: String(error) },
        'the events of an execution could not be read from its node',
      );
    }
    // It ended just now, or its node is gone and another takes it over.
    await clock.wait(PAUSE_MS);
    return [];
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

const CANCEL = 'executions.cancel';
const EVENTS = 'executions.events';
const MOST_TRIES = 100;
const PAUSE_MS = 200;
