import { hash } from 'node:crypto';
import type { AgentAnnouncementMessage } from '@dragoman/protocols/a2a-messages';

/**
 * The latest answers to `discover_agents`, by caller and by the bytes of the query. A query that is sent again because its answer
 * was lost gets the same answer, although its nonce is used. They are kept in memory only.
 */
export class RecentAnnouncements {
  readonly #byQuery = new Map<string, AgentAnnouncementMessage>();

  /** The earlier answer, else the one that `make` returns. */
  async answer(
    caller: string,
    query: Uint8Array | string,
    make: () => Promise<AgentAnnouncementMessage | undefined>,
  ): Promise<AgentAnnouncementMessage | undefined> {
    const key = `${caller} ${hash('sha256', query, 'base64url')}`;
    const earlier = this.#byQuery.get(key);
    if (earlier !== undefined) return earlier;
    const made = await make();
    if (made === undefined) return undefined;
    const [oldest] = this.#byQuery.keys();
    if (this.#byQuery.size >= MOST_KEPT && oldest !== undefined) this.#byQuery.delete(oldest);
    this.#byQuery.set(key, made);
    return made;
  }
}

const MOST_KEPT = 256;
