/**
 * The text of one artifact, and how much of it a reader has: an artifact may be added to, replaced, or shown again whole, and no
 * text is given out twice.
 *
 *   even ──shown again from the beginning──▶ behind ──it catches up──▶ even
 *     └──────replaced by another text──▶ apart ◀──another text──┘
 */
export class ToldText {
  /** What the artifact holds now. */
  text = '';
  #told = '';
  #isApart = false;

  /** More of it. Returns what is new to the reader. */
  append(more: string): string {
    const before = this.text;
    this.text += more;
    if (this.#isApart) return '';
    const missing = this.#told.length - before.length;
    if (missing === 0) return this.#tell(more);
    if (more.length <= missing) return this.#expect(this.#told.startsWith(more, before.length), '');
    const isSame = more.startsWith(this.#told.slice(before.length));
    return this.#expect(isSame, isSame ? this.#tell(more.slice(missing)) : '');
  }

  /** All of it, as it is now. */
  replace(whole: string): string {
    this.text = whole;
    this.#isApart = false;
    if (whole.startsWith(this.#told)) return this.#tell(whole.slice(this.#told.length));
    return this.#expect(this.#told.startsWith(whole), '');
  }

  /** All of it as it was at some time: one that is behind what the reader has says nothing new. */
  remember(whole: string): string {
    const isOld = whole.length < this.text.length && this.text.startsWith(whole);
    return isOld ? '' : this.replace(whole);
  }

  #tell(more: string): string {
    this.#told += more;
    return more;
  }

  #expect(isSame: boolean, told: string): string {
    this.#isApart = !isSame;
    return told;
  }
}
