/** Finds ids that differ only in the case of their letters, which people would confuse. */
export class Spellings {
  readonly #ids = new Map<string, readonly string[]>();

  add(id: string): void {
    const known = this.#ids.get(folded(id)) ?? [];
    this.#ids.set(folded(id), [...known, id]);
  }

  delete(id: string): void {
    const left = this.#ids.get(folded(id))?.filter((other) => other !== id) ?? [];
    if (left.length > 0) this.#ids.set(folded(id), left);
    else this.#ids.delete(folded(id));
  }

  /** Another id that differs only in case. */
  alike(id: string): string | undefined {
    return this.#ids.get(folded(id))?.find((other) => other !== id);
  }
}

/** Whether two ids differ only in case. */
export function areAlike(one: string, other: string): boolean {
  return one !== other && folded(one) === folded(other);
}

/** Lower case is enough, because ids are ASCII. */
function folded(id: string): string {
  return id.toLowerCase();
}
