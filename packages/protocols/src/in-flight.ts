/**
 * Things under way, by id, in the order in which they came. A `Map` does the same, but one whose entries come and go all the
 * time leaves a trail: V8 links each table it outgrows to the next, so that what was long answered stays in memory, and is
 * moved about by the garbage collector, until it looks through everything. This one starts afresh now and then, and the
 * tables it leaves behind hold nothing but empty places.
 */
export class InFlight<Value, Id = string> {
  #places = new Map<Id, Place<Value>>();
  #size = 0;
  /** Where the oldest is: everything before it was taken. Stands still, and holds what was outgrown, unless somebody takes it. */
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

  /** The id must not be under way already. */
  add(id: Id, value: Value): void {
    if (this.#places.size >= FEW && this.#places.size >= 2 * this.#size) this.#startAfresh();
    const before = this.#places.size;
    this.#places.set(id, { value });
    // An id that was used before has kept its old place. That is rare, and asking each time costs a look of its own.
    if (this.#places.size === before) {
      this.#places.delete(id);
      this.#places.set(id, { value });
    }
    this.#size += 1;
  }

  /** What it was; `undefined` when nothing of this id is under way. */
  remove(id: Id): Value | undefined {
    const place = this.#places.get(id);
    if (place?.value === undefined) return undefined;
    const { value } = place;
    place.value = undefined;
    this.#size -= 1;
    return value;
  }

  /** The oldest, removed; `undefined` when there is none. */
  shift(): [Id, Value] | undefined {
    this.#oldest ??= this.#places.entries();
    for (let next = this.#oldest.next(); next.done !== true; next = this.#oldest.next()) {
      const [id, { value }] = next.value;
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
    for (const [id, { value }] of this.#places) if (value !== undefined) entries.push([id, value]);
    return entries;
  }

  /** The same without their ids. */
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

/** Where a thing is as long as it is under way. */
interface Place<Value> {
  value: Value | undefined;
}

/** Places, empty ones among them, below which it is not worth starting afresh. */
const FEW = 128;
