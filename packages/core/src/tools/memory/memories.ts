import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { canonicalJson, type Json, type JsonObject } from '@dragoman/protocols';
import type { MemoryEntry } from '@dragoman/protocols/a2e-wire';
import type { StopSignal } from '../../ending/ending.ts';
import type { Clock } from '../../ports/ports.ts';
import { idFault } from '../../refusals/id-fault.ts';
import { refuse } from '../../refusals/refused.ts';
import {
  type MemoriesStore,
  type MemoryEntryRow,
  type MemoryQuota,
  type MemoryRow,
  wholeOf,
} from '../../store/memories.ts';
import { InTurn } from '../in-turn.ts';
import type { WireSession } from '../wire/plugin.ts';
import { WireRefused } from '../wire/wire-refused.ts';
import type { Search } from './search.ts';
import { workingMemory } from './working-memory.ts';

export interface MemoriesOptions {
  readonly store: MemoriesStore;
  readonly search: Search;
  readonly clock: Clock;
  readonly quota?: MemoryQuota;
}

/** The criteria of a search, all of which must match. */
export interface MemoryQuery {
  readonly keys: readonly JsonObject[];
  readonly query: string;
  /** An entry needs only one of the tags. */
  readonly tags: readonly string[];
  /** Empty for all tiers. */
  readonly tier: Tier | '';
  readonly limit: number;
  readonly minScore: number;
}

export type Tier = MemoryEntry['tier'];

/**
 * The memory of agents. `working` lasts as long as the connection and stays in the process; `episodic` belongs to the
 * agent, and `semantic` is shared by all agents in the same namespace; both are on disk. In a shared space, only the
 * agent that stored an entry can change or forget it.
 */
export class Memories {
  readonly #options: MemoriesOptions;
  readonly #quota: MemoryQuota;
  readonly #working = new WeakMap<WireSession, Working>();
  /** Searches of one caller wait for each other: the searched entries are in memory meanwhile, possibly for seconds. */
  readonly #searches = new InTurn();

  constructor(options: MemoriesOptions) {
    this.#options = options;
    this.#quota = options.quota ?? QUOTA;
  }

  /** Opens the memory of this caller, namespace and scope. The id is the same each time. */
  async open(session: WireSession, namespace: string, scope: JsonObject): Promise<string> {
    const fault = idFault(namespace);
    if (fault !== undefined) refuse('invalid_message', {}, `namespace ${fault}`);
    const owner = session.principal.id;
    const text = canonicalJson(scope);
    const memoryId = digest(['memory', owner, namespace, text]).slice(0, 32);
    await this.#options.store.open({ memoryId, owner, namespace, scope: text, createdAt: this.#now() }, this.#quota);
    return memoryId;
  }

  /** Stores entries; each one that cannot be stored gets an error text. Throws once `stop` has ended. */
  async store(session: WireSession, memoryId: string, entries: readonly MemoryEntry[], stop?: StopSignal) {
    const memory = await this.#find(session, memoryId);
    const stored: JsonObject[] = [];
    const errors: string[] = [];
    for (const [at, entry] of entries.entries()) {
      // Working memory answers synchronously, and a message can contain a hundred thousand entries.
      if (at % A_TURN === A_TURN - 1) await nextTurn();
      // A caller that gave up may have stored another value under the same key since.
      if (stop?.aborted === true) throw stop.reason;
      const problem = await this.#storeOne(session, memory, entry);
      if (problem === undefined) stored.push(entry.key);
      else errors.push(`${canonicalJson(entry.key).slice(0, 200)}: ${problem}`);
    }
    return { stored, errors };
  }

  async retrieve(session: WireSession, memoryId: string, wanted: MemoryQuery, stop?: StopSignal): Promise<Retrieved> {
    const { length } = wanted.query;
    if (length > LONGEST_QUERY)
      refuse('invalid_message', {}, `query may have ${LONGEST_QUERY} characters; it has ${length}`);
    return this.#searches.run(session.principal.id, () => this.#retrieve(session, memoryId, wanted, stop));
  }

  async #retrieve(
    session: WireSession,
    memoryId: string,
    wanted: MemoryQuery,
    stop: StopSignal | undefined,
  ): Promise<Retrieved> {
    if (stop?.aborted === true) throw stop.reason;
    const memory = await this.#find(session, memoryId);
    const found: { row: MemoryEntryRow; entry: MemoryEntry }[] = [];
    for (const tier of wanted.tier === '' ? TIERS : [wanted.tier]) {
      const rows = await this.#storeOf(session, tier).list(spaceOf(memory, tier), this.#now());
      for (const row of rows) found.push({ row, entry: entryOf(row) });
    }
    const keys = await keysOf(wanted.keys);
    const tags = new Set(wanted.tags);
    const fitting = found.filter(
      ({ row, entry }) =>
        (keys.size === 0 || keys.has(row.key)) && (tags.size === 0 || entry.tags.some((tag) => tags.has(tag))),
    );
    const ranked = await this.#ranked(fitting, wanted.query, stop);
    const good = ranked.filter((entry) => entry.score >= wanted.minScore);
    return { entries: good.slice(0, Math.min(wanted.limit, MOST_FOUND)), total: good.length };
  }

  /** Forgets by key, by tag, or, with `all`, everything of the tier that is the caller's own. */
  async forget(
    session: WireSession,
    memoryId: string,
    { keys, tags, all, tier }: Pick<MemoryQuery, 'keys' | 'tags'> & { all: boolean; tier: Tier },
  ): Promise<number> {
    const memory = await this.#find(session, memoryId);
    const store = this.#storeOf(session, tier);
    const space = spaceOf(memory, tier);
    const wanted = await keysOf(keys);
    const wantedTags = new Set(tags);
    const rows = await store.list(space, this.#now());
    const gone = rows.filter(
      (row) => all || wanted.has(row.key) || (tags.length > 0 && entryOf(row).tags.some((tag) => wantedTags.has(tag))),
    );
    return store.remove(
      space,
      session.principal.id,
      gone.map(({ key }) => key),
    );
  }

  purge(): Promise<number> {
    return this.#options.store.purge(this.#now());
  }

  async #storeOne(session: WireSession, memory: MemoryRow, entry: MemoryEntry): Promise<string | undefined> {
    const now = this.#now();
    const text = JSON.stringify(entry);
    if (text.length > LARGEST) return `an entry may have ${LARGEST} characters of JSON; it has ${text.length}`;
    const row: MemoryEntryRow = {
      space: spaceOf(memory, entry.tier),
      key: keyOf(entry.key),
      owner: session.principal.id,
      entry: text,
      createdAt: now,
      updatedAt: now,
      expiresAt: entry.ttl > 0 ? now + entry.ttl * 1000 : null,
    };
    const store = this.#storeOf(session, entry.tier);
    const spaces = entry.tier === 'working' ? this.#working.get(session)?.spaces : undefined;
    if (spaces !== undefined && spaces.size >= this.#quota.spaces && !spaces.has(row.space))
      return `memory_full: ${this.#quota.spaces} namespaces and scopes have working memory on this connection`;
    spaces?.add(row.space);
    const outcome = await store.put(row, this.#quota);
    if (outcome === 'full')
      return `memory_full: ${this.#quota.entries} entries or ${this.#quota.size} characters are there; ${ROOM}`;
    const whole = wholeOf(this.#quota);
    if (outcome === 'owner_full')
      return `memory_full: ${whole.entries} entries or ${whole.size} characters are there in all your namespaces; ${ROOM}`;
    return outcome === 'foreign' ? 'another agent stored it, and it alone may change it' : undefined;
  }

  async #ranked(
    found: readonly { row: MemoryEntryRow; entry: MemoryEntry }[],
    query: string,
    stop: StopSignal | undefined,
  ): Promise<MemoryEntry[]> {
    if (query.trim() === '') return found.map(({ entry }) => entry);
    const byId = new Map(found.map(({ row, entry }) => [`${row.space}/${row.key}`, entry]));
    const texts = [...byId].map(([id, entry]) => ({ id, text: wordsOf(entry) }));
    const ranked = await this.#options.search.rank(query, texts, stop);
    return ranked.flatMap(({ id, score }) => {
      const entry = byId.get(id);
      return entry === undefined ? [] : [{ ...entry, score: Math.round(score * 1000) / 1000 }];
    });
  }

  async #find({ principal }: WireSession, memoryId: string): Promise<MemoryRow> {
    const memory = await this.#options.store.find(principal.id, memoryId);
    if (memory !== undefined) return memory;
    throw new WireRefused(
      'memory_not_found',
      `There is no memory ${JSON.stringify(memoryId.slice(0, 80))}; open one with memory/init/req.`,
    );
  }

  #storeOf(session: WireSession, tier: Tier): ReturnType<typeof workingMemory> {
    if (tier !== 'working') return this.#options.store;
    const working = this.#working.get(session) ?? { store: workingMemory(), spaces: new Set() };
    this.#working.set(session, working);
    return working.store;
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}

export interface Retrieved {
  readonly entries: MemoryEntry[];
  /** The number of all matches, including those beyond the limit. */
  readonly total: number;
}

/** The working memory of a connection. */
interface Working {
  readonly store: ReturnType<typeof workingMemory>;
  /** The spaces that contain, or contained, entries. */
  readonly spaces: Set<string>;
}

/** The owner, namespace, scope and tier. */
function spaceOf({ owner, namespace, scope }: MemoryRow, tier: Tier): string {
  return digest([tier, tier === 'semantic' ? '*' : owner, namespace, scope]);
}

/** Two keys are the same when their members are. */
function keyOf(key: JsonObject): string {
  return createHash('sha256').update(canonicalJson(key)).digest('hex');
}

/** The hashed keys. Yields now and then, because a message can contain very many. */
async function keysOf(keys: readonly JsonObject[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const [at, key] of keys.entries()) {
    if (at % A_TURN === A_TURN - 1) await nextTurn();
    found.add(keyOf(key));
  }
  return found;
}

function entryOf({ entry, createdAt, updatedAt }: MemoryEntryRow): MemoryEntry {
  return { ...(JSON.parse(entry) as MemoryEntry), created_at: createdAt / 1000, updated_at: updatedAt / 1000 };
}

function wordsOf({ key, content, tags, source }: MemoryEntry): string {
  return [key, content, tags, source].flatMap(textsIn).join(' ');
}

function textsIn(value: Json | readonly string[]): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(textsIn);
  return value === null ? [] : [String(value)];
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

const TIERS: readonly Tier[] = ['working', 'episodic', 'semantic'];
const QUOTA: MemoryQuota = { entries: 1_000, size: 4 * 1024 * 1024, spaces: 16 };
const LARGEST = 65_536;
/** Keys or entries that are handled before yielding: some milliseconds of work. */
const A_TURN = 100;
const MOST_FOUND = 1_000;
const LONGEST_QUERY = 1_000;
const ROOM = 'memory/forget/req makes room';
