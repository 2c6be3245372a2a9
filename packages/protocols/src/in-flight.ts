/**
 * Things under way, by id, in the order in which they came. A `Map` does the same, but one whose entries come and go all the
 * time leaves a trail: V8 links each table it outgrows to the next, so that what was long answered stays in memory, and is
 * moved about by the garbage collector, until it looks through everything. This one forgets in place and starts afresh.
 */
export class InFlight<Value, Id = string> {
  #entries = new Map<Id, Value | undefined>();
  #size = 0;
  /** Where the oldest is: everything before it was taken. */
  #oldest = this.#entries.entries();

  get size(): number {
    return this.#size;
  }

  get(id: Id): Value | undefined {
    return this.#entries.get(id);
  }

  has(id: Id): boolean {
    return this.#entries.get(id) !== undefined;
  }

  /** The id must not be under way already. */
  add(id: Id, value: Value): void {
    const { size } = this.#entries;
    if (size >= FEW && size >= 2 * this.#size) this.#startAfresh();
    const before = this.#entries.size;
    this.#entries.set(id, value);
    // An id that was used before has kept its old place. That is rare, and asking each time costs a look of its own.
    if (this.#entries.size === before) {
      this.#entries.delete(id);
      this.#entries.set(id, value);
    }
    this.#size += 1;
  }

  /** What it was; `undefined` when nothing of this id is under way. */
  remove(id: Id): Value | undefined {
    const value = this.#entries.get(id);
    if (value === undefined) return undefined;
    this.#entries.set(id, undefined);
    this.#size -= 1;
    return value;
  }

  /** The oldest, removed; `undefined` when there is none. */
  shift(): [Id, Value] | undefined {
    for (let next = this.#oldest.next(); next.done !== true; next = this.#oldest.next()) {
      const [id, value] = next.value;
      if (value === undefined) continue;
      this.remove(id);
      return [id, value];
    }
    // Every one was passed, so none is left; an iterator that has ended sees nothing that comes later.
    this.clear();
    return undefined;
  }

  /** Those under way now, oldest first; what is added or removed meanwhile changes nothing. */
  entries(): [Id, Value][] {
    const entries: [Id, Value][] = [];
    if (this.#size === 0) return entries;
    for (const [id, value] of this.#entries) if (value !== undefined) entries.push([id, value]);
    return entries;
  }

  /** The same without their ids. */
  values(): Value[] {
    return this.entries().map(([, value]) => value);
  }

  clear(): void {
    this.#entries = new Map();
    this.#oldest = this.#entries.entries();
    this.#size = 0;
  }

  #startAfresh(): void {
    this.#entries = new Map(this.entries());
    this.#oldest = this.#entries.entries();
  }
}

/** Entries, forgotten ones among them, below which it is not worth starting afresh. */
const FEW = 256;
