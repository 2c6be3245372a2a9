import type {
  EffectRow,
  ExecutionAccepted,
  ExecutionEnd,
  ExecutionKey,
  ExecutionRow,
  ExecutionStore,
  Kept,
  StoredDataStore,
  StoredQuota,
  StoredRow,
} from '../executions.ts';
import type { Forgotten, Removed } from '../forgetting.ts';
import { requireStorable } from '../storable.ts';
import { nameOf } from './name-of.ts';
import type { Perform } from './perform.ts';

/** Executions and what they keep, in memory. */
export class MemoryExecutions {
  // A Map keeps the order in which things came.
  readonly #executions = new Map<string, Recorded>();
  readonly #byIdempotencyKey = new Map<string, Recorded>();
  readonly #stored = new Map<string, StoredRow>();
  #lastNumber = 0;
  readonly executions: ExecutionStore;
  readonly storedData: StoredDataStore;

  constructor(perform: Perform) {
    this.executions = {
      accept: (row) => perform(() => this.#accept(row)),
      append: (key, effects) => perform(() => void this.#append(key, effects)),
      finish: (key, effects, end) => perform(() => this.#finish(key, effects, end)),
      find: (key) => perform(() => this.#executions.get(nameOfExecution(key))?.row),
      named: (executionId) =>
        perform(() => {
          const rows = [...this.#executions.values()].reverse().map(({ row }) => row);
          return rows.filter((row) => row.executionId === executionId);
        }),
      effects: (key) => perform(() => [...(this.#executions.get(nameOfExecution(key))?.effects ?? [])]),
      unfinished: () =>
        perform(() => [...this.#executions.values()].map(({ row }) => row).filter(({ end }) => end === null)),
      list: (owner, { before, limit, status }) =>
        perform(() =>
          [...this.#executions.values()]
            .reverse()
            .filter(({ row, number }) => row.owner === owner && number < before)
            .map(({ row, number }) => ({
              number,
              owner,
              executionId: row.executionId,
              status: row.end?.status ?? 'running',
              acceptedAt: row.acceptedAt,
              endedAt: row.end?.endedAt ?? null,
            }))
            .filter((summary) => status === null || summary.status === status)
            .slice(0, limit),
        ),
      purge: (before) => perform(() => this.#purge(before)),
    };
    this.storedData = {
      keep: (row, quota, by) => perform(() => this.#keep(row, quota, by)),
      find: (owner, name) => perform(() => this.#stored.get(nameOf(owner, name))),
      names: (owner) => perform(() => this.#of(owner).map(({ name }) => name)),
      files: () => perform(() => [...this.#stored.values()].flatMap(({ file }) => file ?? []).sort()),
    };
  }

  #accept(row: ExecutionRow): ExecutionAccepted {
    requireStorable(row.owner, row.executionId, row.idempotencyKey, row.request);
    if (row.end !== null) requireStorable(row.end.result, row.end.events);
    const second = row.idempotencyKey === null ? undefined : nameOf(row.owner, row.idempotencyKey);
    const earlier =
      this.#executions.get(nameOfExecution(row)) ??
      (second === undefined ? undefined : this.#byIdempotencyKey.get(second));
    if (earlier !== undefined) return { repeat: true, row: earlier.row };
    this.#lastNumber += 1;
    const recorded: Recorded = { number: this.#lastNumber, row, effects: [] };
    this.#executions.set(nameOfExecution(row), recorded);
    if (second !== undefined) this.#byIdempotencyKey.set(second, recorded);
    return { repeat: false };
  }

  #append(key: ExecutionKey, effects: readonly EffectRow[]): Recorded {
    const recorded = this.#executions.get(nameOfExecution(key));
    if (recorded === undefined || recorded.row.end !== null) {
      throw new Error(`execution ${key.executionId} of ${key.owner} is not under way`);
    }
    for (const effect of effects) {
      requireStorable(effect.key, effect.note);
      if (recorded.effects.some(({ position }) => position === effect.position)) {
        throw new Error(`effect ${effect.position} of ${key.executionId} is recorded already`);
      }
    }
    recorded.effects.push(...effects);
    recorded.effects.sort((a, b) => a.position - b.position);
    return recorded;
  }

  #finish(key: ExecutionKey, effects: readonly EffectRow[], end: ExecutionEnd): void {
    requireStorable(end.result, end.events);
    const recorded = this.#append(key, effects);
    recorded.row = { ...recorded.row, end };
  }

  #purge(before: number): number {
    const old = [...this.#executions.values()].filter(({ row: { end } }) => end !== null && end.endedAt < before);
    for (const { row } of old) this.#drop(row);
    return old.length;
  }

  /** Takes one out, unless it is under way. */
  remove(key: ExecutionKey): Removed {
    const recorded = this.#executions.get(nameOfExecution(key));
    if (recorded === undefined) return 'absent';
    if (recorded.row.end === null) return 'under_way';
    this.#drop(recorded.row);
    return 'removed';
  }

  /** Takes out what is an owner's and has ended, and what it kept. */
  forget(owner: string): Pick<Forgotten, 'executions' | 'storedKeys' | 'files' | 'underWay'> {
    const own = [...this.#executions.values()].map(({ row }) => row).filter((row) => row.owner === owner);
    const ended = own.filter(({ end }) => end !== null);
    for (const row of ended) this.#drop(row);
    const stored = this.#of(owner);
    for (const { name } of stored) this.#stored.delete(nameOf(owner, name));
    const files = stored.flatMap(({ file }) => file ?? []).sort();
    return { executions: ended.length, storedKeys: stored.length, files, underWay: own.length - ended.length };
  }

  #drop(row: ExecutionRow): void {
    this.#executions.delete(nameOfExecution(row));
    if (row.idempotencyKey !== null) this.#byIdempotencyKey.delete(nameOf(row.owner, row.idempotencyKey));
  }

  #keep(row: StoredRow, quota: StoredQuota, by: { key: ExecutionKey; effects: readonly EffectRow[] }): Kept {
    requireStorable(row.owner, row.name, row.value, row.file, row.labels);
    const others = this.#of(row.owner).filter(({ name }) => name !== row.name);
    const bytes = others.reduce((sum, other) => sum + other.bytes, row.bytes);
    const count = others.length + 1;
    if (bytes > quota.bytes || count > quota.count) return { kept: false, bytes, count };
    this.#append(by.key, by.effects);
    const name = nameOf(row.owner, row.name);
    const replaced = this.#stored.get(name) ?? null;
    this.#stored.set(name, row);
    return { kept: true, replaced };
  }

  #of(owner: string): StoredRow[] {
    const rows = [...this.#stored.values()].filter((row) => row.owner === owner);
    return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

interface Recorded {
  readonly number: number;
  row: ExecutionRow;
  readonly effects: EffectRow[];
}

function nameOfExecution({ owner, executionId }: ExecutionKey): string {
  return nameOf(owner, executionId);
}
