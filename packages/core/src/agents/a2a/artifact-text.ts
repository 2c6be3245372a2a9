/**
 * The text of one artifact, and how much of it the reader has. An artifact may be extended, replaced or sent again in
 * full; no text is given to the reader twice. The reader has the whole text (even), more than the text has so far
 * (behind), or another text (apart).
 *
 *   even ──sent again from the beginning──▶ behind ──the text catches up──▶ even
 *     └──────replaced by another text──▶ apart ◀──another text──┘
 */
export class ArtifactText {
  /** The current text, in the pieces received: joining them at each piece would take quadratic time. */
  #pieces: string[] = [];
  #length = 0;
  /** The text that the reader has. */
  #given = '';
  #isApart = false;

  get text(): string {
    return this.#pieces.join('');
  }

  get length(): number {
    return this.#length;
  }

  /** Adds to the text. Returns the part that is new to the reader. */
  append(more: string): string {
    const start = this.#length;
    if (more !== '') this.#pieces.push(more);
    this.#length += more.length;
    return this.#isApart ? '' : this.#rest(more, start);
  }

  /** Replaces the text. Returns the part that is new to the reader. */
  replace(whole: string): string {
    this.#pieces = whole === '' ? [] : [whole];
    this.#length = whole.length;
    return this.#rest(whole, 0);
  }

  /** Takes a copy of the text that may be older: a copy that the text starts with changes nothing. */
  remember(whole: string): string {
    return whole.length < this.#length && this.#startsWith(whole) ? '' : this.replace(whole);
  }

  /** The part of a piece that the reader lacks. The piece starts at this position of the text. */
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
