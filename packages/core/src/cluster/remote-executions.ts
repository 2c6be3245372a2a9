import type { Json } from '@dragoman/protocols';
import type { ExecutionsElsewhere } from '../executions/elsewhere.ts';
import type { Executions } from '../executions/executions.ts';
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

  lost(): void {
    this.#options.executions.letGo();
  }
}

const CANCEL = 'executions.cancel';
const MOST_TRIES = 100;
const PAUSE_MS = 200;
