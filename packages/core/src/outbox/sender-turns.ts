/** An item that waits for its turn, and its sender. */
interface OfSender {
  readonly id: string;
  readonly owner: string;
}

/** A queue in which senders take turns, each in its own order, so that one with a thousand items does not delay the others. */
export class SenderTurns<Item extends OfSender> {
  /** In the order of their turns. */
  readonly #senders = new Map<string, Line<Item>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: Item): void {
    const line = this.#senders.get(item.owner);
    if (line === undefined) this.#senders.set(item.owner, new Line([item]));
    else line.push(item);
    this.#length += 1;
  }

  shift(): Item | undefined {
    for (const [owner, line] of this.#senders) {
      const item = line.shift();
      this.#length -= 1;
      if (line.length > 0 && this.#senders.size === 1) return item;
      // Behind all others, for its next turn.
      this.#senders.delete(owner);
      if (line.length > 0) this.#senders.set(owner, line);
      return item;
    }
    return undefined;
  }

  /** Those whose turns come after `from` others, up to the one after `to`. */
  slice(from: number, to: number): Item[] {
    const next: Item[] = [];
    const most = Math.min(to, this.#length);
    for (let turn = 0; next.length < most; turn += 1) {
      for (const line of this.#senders.values()) {
        const item = line.at(turn);
        if (item !== undefined) next.push(item);
        if (next.length === most) break;
      }
    }
    return next.slice(from);
  }

  /** Removes these items. */
  remove(ids: ReadonlySet<string>): void {
    for (const [owner, line] of this.#senders) {
      const before = line.length;
      line.remove(ids);
      this.#length -= before - line.length;
      if (line.length === 0) this.#senders.delete(owner);
    }
  }
}

/** The items of one sender, in order. Taken items are removed in batches, because `shift` moves the rest of a long array. */
class Line<Item extends OfSender> {
  #items: Item[];
  #taken = 0;

  constructor(items: Item[]) {
    this.#items = items;
  }

  get length(): number {
    return this.#items.length - this.#taken;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    const item = this.#items[this.#taken];
    this.#taken += 1;
    if (this.#taken === MANY_TAKEN) this.#drop();
    return item;
  }

  at(index: number): Item | undefined {
    return this.#items[this.#taken + index];
  }

  remove(ids: ReadonlySet<string>): void {
    this.#drop();
    this.#items = this.#items.filter(({ id }) => !ids.has(id));
  }

  /** Removes the taken items. */
  #drop(): void {
    this.#items.splice(0, this.#taken);
    this.#taken = 0;
  }
}

/** Taken items per batch. */
const MANY_TAKEN = 256;
