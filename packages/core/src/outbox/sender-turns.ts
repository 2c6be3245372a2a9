/** What waits for its turn, and on whose behalf. */
interface OfSender {
  readonly id: string;
  readonly owner: string;
}

/** A line in which senders take turns, each with what it sent first: one with a thousand keeps nobody else waiting for them all. */
export class SenderTurns<Item extends OfSender> {
  /** Whose turn it is next comes first. */
  readonly #senders = new Map<string, Item[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: Item): void {
    const items = this.#senders.get(item.owner);
    if (items === undefined) this.#senders.set(item.owner, [item]);
    else items.push(item);
    this.#length += 1;
  }

  shift(): Item | undefined {
    for (const [owner, items] of this.#senders) {
      const item = items.shift();
      this.#length -= 1;
      if (items.length > 0 && this.#senders.size === 1) return item;
      // Behind all others, for its next turn.
      this.#senders.delete(owner);
      if (items.length > 0) this.#senders.set(owner, items);
      return item;
    }
    return undefined;
  }

  /** Those whose turns come after `from` others, up to the one after `to`. */
  slice(from: number, to: number): Item[] {
    const next: Item[] = [];
    const most = Math.min(to, this.#length);
    for (let turn = 0; next.length < most; turn += 1) {
      for (const items of this.#senders.values()) {
        const item = items[turn];
        if (item !== undefined) next.push(item);
        if (next.length === most) break;
      }
    }
    return next.slice(from);
  }

  /** Takes those out that are not wanted any more. */
  remove(ids: ReadonlySet<string>): void {
    for (const [owner, items] of this.#senders) {
      if (!items.some(({ id }) => ids.has(id))) continue;
      const left = items.filter(({ id }) => !ids.has(id));
      this.#length -= items.length - left.length;
      if (left.length === 0) this.#senders.delete(owner);
      else this.#senders.set(owner, left);
    }
  }
}
