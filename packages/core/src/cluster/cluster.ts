import { Ending } from '../ending/ending.ts';
import type { Clock, Log } from '../ports/ports.ts';
import type { ClusterStore } from '../store/cluster.ts';
import { NodeCalls } from './node-calls.ts';
import { Words } from './words.ts';

export interface ClusterOptions {
  readonly store: ClusterStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly ttlMs: number;
  readonly graceMs: number;
  readonly beatMs: number;
}

/** Actions of this node when the set of nodes changes. */
export interface ClusterListener {
  /** Claims and continues the runs of nodes that are gone. */
  takeOver?(): Promise<void>;
  /** This node was declared dead: others may continue its runs, so it must not. */
  lost?(): Promise<void> | void;
  /** This node has joined again, under another number. */
  joinedAgain?(): Promise<void> | void;
  /** With every beat. */
  beat?(): Promise<void>;
}

/**
 * This node among the others: shows that it is alive, declares dead those that are not, and has their work taken over.
 *
 *   steady ◀─ beats got through for one time to live ─ beating ─ none for 0.6 of it ──▶ fenced: takes nothing new
 *                                                         └── declared dead by others ──▶ lost ──▶ joins again
 */
export class Cluster {
  readonly words: Words;
  readonly calls: NodeCalls;
  readonly #options: ClusterOptions;
  readonly #listeners: ClusterListener[] = [];
  readonly #stopped = new Ending();
  #beating: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #isLeaving = false;
  /** By elapsed time. */
  #lastBeat: number;
  /** Since when no beat has failed or come late. */
  #steadySince: number | undefined;
  #isAway = false;
  /** The number under which it was declared dead, until the listeners know that it has joined again. */
  #before: number | undefined;

  constructor(options: ClusterOptions) {
    this.#options = options;
    const { store, clock, log } = options;
    this.words = new Words({ store, log });
    this.calls = new NodeCalls({ store, words: this.words, clock, log });
    this.listen({ beat: () => this.calls.look() });
    // It has just joined.
    this.#lastBeat = clock.elapsed();
  }

  /** The number of this node. */
  get node(): number {
    return this.#options.store.node;
  }

  /** How long a node may be silent before the others take over its work. */
  get ttlMs(): number {
    return this.#options.ttlMs;
  }

  /** Whether this node must not take new work: it has not reached the database for so long that others may have declared it dead. */
  get isFenced(): boolean {
    return this.#options.clock.elapsed() - this.#lastBeat >= FENCED_AFTER * this.#options.ttlMs;
  }

  listen(listener: ClusterListener): void {
    this.#listeners.push(listener);
  }

  start(): void {
    this.#beating ??= this.#beatOn();
  }

  /** Others do not choose this node any more. It beats until `stop`. */
  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#options.store.leave().catch((error) => {
      this.#options.log.warn({ error: String(error) }, 'the other nodes do not know that this one leaves');
    });
  }

  async stop(): Promise<void> {
    this.#stopped.end(STOPPED);
    await this.#beating;
    await this.#looking;
  }

  async #beatOn(): Promise<void> {
    const { clock, beatMs } = this.#options;
    while (!this.#stopped.aborted) {
      await this.beat();
      await clock.wait(beatMs, this.#stopped.signal).catch(() => {});
    }
  }

  /** Once: shows that this node is alive, and looks after the others beside that. */
  async beat(): Promise<void> {
    const { store, clock, log, ttlMs } = this.#options;
    const sentAt = clock.elapsed();
    try {
      const silentMs = await store.beat(FENCED_AFTER * ttlMs);
      if (silentMs === undefined) await this.#joinAgain();
      else if (this.#before !== undefined) await this.#joined();
      // It stood still, and the others may have stood still with it.
      else if (silentMs >= FENCED_AFTER * ttlMs) this.#steadySince = undefined;
      // It was true when it was sent: the answer may have taken long.
      this.#lastBeat = sentAt;
      this.#steadySince ??= clock.elapsed();
      if (this.#isAway) log.info({ node: this.node }, 'this node reaches the database again');
      this.#isAway = false;
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    } catch (error) {
      this.#steadySince = undefined;
      if (!this.#isAway && !this.#stopped.aborted) {
        log.warn({ node: this.node, error: String(error) }, 'this node could not show that it is alive');
      }
      this.#isAway = true;
    }
  }

  /** Resolves when the work of the last beat is done. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  /** While the database was away, the others were as silent as this node. They get the time that this node has had. */
  get #isSteady(): boolean {
    const { clock, ttlMs } = this.#options;
    return this.#steadySince !== undefined && clock.elapsed() - this.#steadySince >= ttlMs;
  }

  async #look(): Promise<void> {
    const { store, log, ttlMs, graceMs } = this.#options;
    try {
      if (this.#isSteady) {
        const dead = await store.buryDead({ ttlMs, graceMs });
        if (dead.length > 0) log.warn({ node: this.node, dead }, 'nodes were declared dead');
      }
      if (!this.#isLeaving && (await store.hasLeftovers())) await this.#tell('takeOver');
      await this.#tell('beat');
    } catch (error) {
      if (!this.#stopped.aborted) log.warn({ node: this.node, error: String(error) }, FAILED.takeOver);
    }
  }

  async #joinAgain(): Promise<void> {
    this.#before ??= this.node;
    // First: runs that this node no longer holds must not be continued under the new number.
    await this.#tell('lost');
    await this.#options.store.join();
    await this.#joined();
  }

  /** With a later beat where the database went away after it had given the new number. */
  async #joined(): Promise<void> {
    await this.#tell('joinedAgain');
    this.#steadySince = undefined;
    const [before, node] = [this.#before, this.node];
    this.#before = undefined;
    this.#options.log.warn({ before, node }, 'this node had been declared dead, and has joined again');
  }

  async #tell(what: keyof ClusterListener): Promise<void> {
    for (const listener of this.#listeners) {
      try {
        await listener[what]?.();
      } catch (error) {
        this.#options.log.warn({ node: this.node, error: String(error) }, FAILED[what]);
      }
    }
  }
}

/** Of the time to live. */
const FENCED_AFTER = 0.6;
const STOPPED = new Error('the node stops');
const FAILED: Readonly<Record<keyof ClusterListener, string>> = {
  takeOver: 'taking over all runs of another node failed; unclaimed runs are tried again',
  lost: 'releasing the lost runs of this node failed',
  joinedAgain: 'joining again was not completed',
  beat: 'the work of a beat failed',
};
