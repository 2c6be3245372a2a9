/** Which ids differ in the case of their letters alone: to people they are one. */
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

  /** Another one that people would take for this. */
  alike(id: string): string | undefined {
    return this.#ids.get(folded(id))?.find((other) => other !== id);
  }
}

/** Whether people would take one for the other. */
export function areAlike(one: string, other: string): boolean {
  return one !== other && folded(one) === folded(other);
}

/** Ids are ASCII. */
function folded(id: string): string {
  return id.toLowerCase();
}
