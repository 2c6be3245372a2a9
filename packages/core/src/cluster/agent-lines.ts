import type { Log } from '../ports/ports.ts';
import type { Runs } from '../runs/runs.ts';
import type { ClusterStore } from '../store/cluster.ts';
import type { Cluster, ClusterListener } from './cluster.ts';
import type { RemoteRuns } from './remote-runs.ts';

export interface AgentLinesOptions {
  readonly store: ClusterStore;
  readonly runs: Pick<Runs, 'adopt'>;
  readonly remote: Pick<RemoteRuns, 'fetchAuth'>;
  readonly cluster: Cluster;
  readonly log: Log;
}

/** The agents that have dialled in to this node, so that other nodes hand over their requests. */
export class AgentLines implements ClusterListener {
  readonly #options: AgentLinesOptions;
  /** Those that are connected now. */
  readonly #connected = new Set<string>();
  /** Those whose last change the database does not have. */
  readonly #failed = new Set<string>();
  /** One change after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: AgentLinesOptions) {
    this.#options = options;
    options.cluster.listen(this);
  }

  /** Called when an agent connects to this node, and when its last connection is gone. */
  changed(agentId: string, isConnected: boolean): void {
    if (isConnected) this.#connected.add(agentId);
    else if (!this.#connected.delete(agentId)) return;
    this.#record(agentId);
  }

  /** Until the database has it, other nodes do not find the agent, or look for it here. */
  async beat(): Promise<void> {
    const failed = [...this.#failed];
    this.#failed.clear();
    for (const agentId of failed) this.#record(agentId);
  }

  #record(agentId: string): void {
    const { store, log } = this.#options;
    this.#last = this.#last
      .then(() => (this.#connected.has(agentId) ? this.#add(agentId) : store.removeLine(agentId)))
      .catch((error) => {
        log.warn(
          { agent: agentId, error: String(error) },
          'the database did not record that an agent connected or disconnected here; this is tried again',
        );
        this.#failed.add(agentId);
      });
  }

  /** The others have deleted the lines of a node that they had declared dead. */
  joinedAgain(): void {
    for (const agentId of this.#connected) this.changed(agentId, true);
  }

  async #add(agentId: string): Promise<void> {
    const { store, runs, remote, cluster } = this.#options;
    await store.addLine(agentId);
    // Requests that wait for it on other nodes can be handed over now.
    const waiting = await store.takeWaiting(agentId);
    // Together: a node that does not answer must not delay each of them.
    await Promise.all(waiting.map(({ from, ...claimed }) => remote.fetchAuth(from, claimed)));
    for (const { from, ...claimed } of waiting) {
      cluster.words.send(from, 'moved', claimed.held.id);
      await runs.adopt(claimed);
    }
  }
}
