import type { Json } from '@dragoman/protocols';
import type { Clock, Log } from '../ports/ports.ts';
import type { AddressedPush, Pushes, PushesElsewhere } from '../pushes/pushes.ts';
import type { ClusterStore } from '../store/cluster.ts';
import type { Cluster, ClusterListener } from './cluster.ts';

export interface RemotePushesOptions {
  readonly store: Pick<ClusterStore, 'node' | 'others'>;
  readonly pushes: Pushes;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sends pushes of agents of this node to the other nodes that have listeners: each says so with every beat. */
export class RemotePushes implements PushesElsewhere, ClusterListener {
  readonly #options: RemotePushesOptions;
  /** The nodes with listeners, and when they last said so, by elapsed time. */
  readonly #listening = new Map<number, number>();

  constructor(options: RemotePushesOptions) {
    const { pushes, cluster, clock } = options;
    this.#options = options;
    cluster.words.hear('listens', ([node]) => void this.#listening.set(Number(node), clock.elapsed()));
    cluster.calls.serve(DELIVER, async (push) => {
      pushes.deliverHere(push as unknown as AddressedPush);
      return null;
    });
    pushes.join(this);
    cluster.listen(this);
  }

  get hasListeners(): boolean {
    return this.#listening.size > 0;
  }

  listening(): void {
    void this.beat().catch((error) =>
      this.#options.log.debug({ error: String(error) }, 'listeners are announced later'),
    );
  }

  async beat(): Promise<void> {
    const { store, pushes, cluster, clock } = this.#options;
    const now = clock.elapsed();
    for (const [node, at] of this.#listening) if (now - at > cluster.ttlMs) this.#listening.delete(node);
    if (!pushes.hasListeners) return;
    for (const node of await store.others()) cluster.words.send(node, 'listens', store.node);
  }

  deliver(push: AddressedPush): void {
    const { cluster, log } = this.#options;
    for (const node of this.#listening.keys()) {
      cluster.calls.ask(node, DELIVER, push as unknown as Json).catch((error) => {
        log.debug({ agent: push.agentId, error: String(error) }, 'a push did not reach another node');
      });
    }
  }
}

const DELIVER = 'pushes.deliver';
