import type { Log } from '../ports/ports.ts';
import type { Runs } from '../runs/runs.ts';
import type { ClusterStore } from '../store/cluster.ts';
import type { Cluster } from './cluster.ts';
import type { RemoteRuns } from './remote-runs.ts';

export interface AgentLinesOptions {
  readonly store: ClusterStore;
  readonly runs: Runs;
  readonly remote: Pick<RemoteRuns, 'fetchAuth'>;
  readonly cluster: Cluster;
  readonly log: Log;
}

/** The agents that have dialled in to this node, so that other nodes hand over their requests. */
export class AgentLines {
  readonly #options: AgentLinesOptions;
  /** One change after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: AgentLinesOptions) {
    this.#options = options;
  }

  /** Called when an agent connects to this node, and when its last connection is gone. */
  changed(agentId: string, isConnected: boolean): void {
    this.#last = this.#last
      .then(() => (isConnected ? this.#add(agentId) : this.#options.store.removeLine(agentId)))
      .catch((error) => {
        this.#options.log.warn({ agent: agentId, error: String(error) }, 'other nodes do not know where an agent is');
      });
  }

  async #add(agentId: string): Promise<void> {
    const { store, runs, remote, cluster } = this.#options;
    await store.addLine(agentId);
    // Requests that wait for it on other nodes can be handed over now.
    for (const { from, ...claimed } of await store.takeWaiting(agentId)) {
      await remote.fetchAuth(from, claimed);
      cluster.words.send(from, 'moved', claimed.held.id);
      await runs.adopt(claimed);
    }
  }
}
