/**
 * The text of one artifact, and how much of it the reader has. An artifact may be extended, replaced or sent again in full; no text
 * is given to the reader twice.
 *
 *   even ──shown again from the beginning──▶ behind ──it catches up──▶ even
 *     └──────replaced by another text──▶ apart ◀──another text──┘
 */
export class ArtifactText {
  /** What the artifact holds now. */
  text = '';
  /** What the reader has. */
  #given = '';
  #isApart = false;

  /** Adds to it. Returns what is new to the reader. */
  append(more: string): string {
    const before = this.text.length;
    this.text += more;
    if (this.#isApart) return '';
    if (before !== this.#given.length) return this.#rest(before);
    this.#given += more;
    return more;
  }

  /** All of it, as it is now. */
  replace(whole: string): string {
    this.text = whole;
    return this.#rest(0);
  }

  /** A full copy that may be older than the text: one that the text starts with adds nothing. */
  remember(whole: string): string {
    const isOld = whole.length < this.text.length && this.text.startsWith(whole);
    return isOld ? '' : this.replace(whole);
  }

  /** What the reader lacks. Up to `known`, the text is known to be what the reader has. */
  #rest(known: number): string {
    const shared = Math.min(this.text.length, this.#given.length);
    this.#isApart = this.text.slice(known, shared) !== this.#given.slice(known, shared);
    if (this.#isApart) return '';
    const rest = this.text.slice(this.#given.length);
    this.#given += rest;
    return rest;
  }
}
