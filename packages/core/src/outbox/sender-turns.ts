/** An item that waits for its turn, and its sender. */
interface OfSender {
  readonly id: string;
  readonly owner: string;
}

/**
 * A queue in which senders take turns, so that a thousand items of one do not delay the others. Each one's items stay
 * in order.
 */
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
      // Puts the sender behind all others for its next turn.
      this.#senders.delete(owner);
      if (line.length > 0) this.#senders.set(owner, line);
      return item;
    }
    return undefined;
  }

  /** The items at the places `from` to `to` (exclusive), in the order in which `shift` would return them. */
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

/** How many taken items are removed at once. */
const MANY_TAKEN = 256;
