/**
 * The text of one artifact, and how much of it the reader has. An artifact may be extended, replaced or sent again in full; no text
 * is given to the reader twice.
 *
 *   even ──shown again from the beginning──▶ behind ──it catches up──▶ even
 *     └──────replaced by another text──▶ apart ◀──another text──┘
 */
export class ArtifactText {
  /** What the artifact holds now, as it was received: joining it with each piece would take quadratic time. */
  #pieces: string[] = [];
  #length = 0;
  /** What the reader has. */
  #given = '';
  #isApart = false;

  get text(): string {
    return this.#pieces.join('');
  }

  get length(): number {
    return this.#length;
  }

  /** Adds to it. Returns what is new to the reader. */
  append(more: string): string {
    const start = this.#length;
    if (more !== '') this.#pieces.push(more);
    this.#length += more.length;
    return this.#isApart ? '' : this.#rest(more, start);
  }

  /** All of it, as it is now. */
  replace(whole: string): string {
    this.#pieces = whole === '' ? [] : [whole];
    this.#length = whole.length;
    return this.#rest(whole, 0);
  }

  /** A full copy that may be older than the text: one that the text starts with adds nothing. */
  remember(whole: string): string {
    return whole.length < this.#length && this.#startsWith(whole) ? '' : this.replace(whole);
  }

  /** What the reader lacks of a piece of the text that starts there. */
  #rest(piece: string, start: number): string {
    const shared = Math.min(piece.length, this.#given.length - start);
    this.#isApart = shared > 0 && piece.slice(0, shared) !== this.#given.slice(start, start + shared);
    if (this.#isApart) return '';
    const rest = piece.slice(shared);
    this.#given += rest;
    return rest;
  }

  #startsWith(whole: string): boolean {
    let at = 0;
    for (const piece of this.#pieces) {
      if (at >= whole.length) break;
      if (!piece.startsWith(whole.slice(at, at + piece.length))) return false;
      at += piece.length;
    }
    return true;
  }
}
