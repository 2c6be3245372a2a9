/**
 * Pending entries by id, in insertion order. A long-lived `Map` with frequent insertions and deletions would keep
 * removed entries in memory, because V8 links each outgrown table to the next. This class starts a new table from time
 * to time, so that the old ones contain only empty places.
 */
export class InFlight<Value, Id = string> {
  #places = new Map<Id, Place<Value>>();
  #size = 0;
  /** The position of the oldest entry; everything before it was removed. */
  #oldest: MapIterator<[Id, Place<Value>]> | undefined;

  get size(): number {
    return this.#size;
  }

  get(id: Id): Value | undefined {
    return this.#places.get(id)?.value;
  }

  has(id: Id): boolean {
    return this.get(id) !== undefined;
  }

  /** The id must not be pending already. */
  add(id: Id, value: Value): void {
    if (this.#places.size >= FEW && this.#places.size >= 2 * this.#size) this.#startAfresh();
    const before = this.#places.size;
    this.#places.set(id, { value });
    // A reused id would keep its old place in the map, so it is added again at the end.
    if (this.#places.size === before) {
      this.#places.delete(id);
      this.#places.set(id, { value });
    }
    this.#size += 1;
  }

  /** Removes and returns the entry; `undefined` if the id is not pending. */
  remove(id: Id): Value | undefined {
    const place = this.#places.get(id);
    if (place?.value === undefined) return undefined;
    const { value } = place;
    place.value = undefined;
    this.#size -= 1;
    return value;
  }

  /** Removes and returns the oldest entry; `undefined` if there is none. */
  shift(): [Id, Value] | undefined {
    this.#oldest ??= this.#places.entries();
    for (let next = this.#oldest.next(); next.done !== true; next = this.#oldest.next()) {
      const [id, { value }] = next.value;
      if (value === undefined) continue;
      this.remove(id);
      return [id, value];
    }
    // The iterator has ended; it does not see later entries.
    this.clear();
    return undefined;
  }

  /** A snapshot of the pending entries, oldest first. */
  entries(): [Id, Value][] {
    const entries: [Id, Value][] = [];
    if (this.#size === 0) return entries;
    for (const [id, { value }] of this.#places) if (value !== undefined) entries.push([id, value]);
    return entries;
  }

  /** A snapshot of the pending values, oldest first. */
  values(): Value[] {
    return this.entries().map(([, value]) => value);
  }

  clear(): void {
    this.#places = new Map();
    this.#oldest = undefined;
    this.#size = 0;
  }

  #startAfresh(): void {
    const places = new Map<Id, Place<Value>>();
    for (const [id, place] of this.#places) if (place.value !== undefined) places.set(id, place);
    this.#places = places;
    this.#oldest = undefined;
  }
}

/** A place in the map; `value` is undefined once the entry has been removed. */
interface Place<Value> {
  value: Value | undefined;
}

/** Below this number of places, including empty ones, no new table is started. */
const FEW = 128;
