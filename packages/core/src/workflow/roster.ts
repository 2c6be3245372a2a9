/**
 * Large things that come and go quickly, by name. A Map from which things are taken all the time moves to a new table again
 * and again, and V8 lets each old one, with everything that was in it then, live until the next full collection: at a
 * thousand executions a second that costs as much as running them. Here an old table holds nothing but empty places.
 */
export class Roster<Key, Value extends object> {
  readonly #places = new Map<Key, Place<Value>>();

  get(key: Key): Value | undefined {
    return this.#places.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#places.set(key, { value });
  }

  delete(key: Key): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    place.value = undefined;
    this.#places.delete(key);
  }

  *values(): Generator<Value> {
    for (const { value } of this.#places.values()) if (value !== undefined) yield value;
  }
}

interface Place<Value> {
  value: Value | undefined;
}
