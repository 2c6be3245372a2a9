import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Principal } from '../call/principal.ts';
import { WordIndex } from '../search/word-index.ts';
import type { MeaningIndex } from './meaning-index.ts';
import { type Passages, passagesOf } from './passages.ts';
import { keyOf, type Source, type Thing } from './thing.ts';

export interface Entry {
  readonly key: string;
  readonly thing: Thing;
  readonly passages: Passages;
}

/**
 * The index of all things. A source is read again when its version has changed, and only changed texts are indexed
 * again.
 */
export class ThingIndex {
  readonly words = new WordIndex();
  readonly #sources: readonly Source[];
  readonly #meaning: MeaningIndex | undefined;
  readonly #entries = new Map<Source, Map<string, Entry>>();
  readonly #versions = new Map<Source, number>();
  #updating: Promise<void> = Promise.resolve();

  constructor({ sources, meaning }: { sources: readonly Source[]; meaning?: MeaningIndex }) {
    this.#sources = sources;
    this.#meaning = meaning;
  }

  /** Updates the index from the sources, one update after the other. */
  update(): Promise<void> {
    if (this.#sources.every((source) => this.#versions.get(source) === source.version)) return this.#updating;
    this.#updating = this.#updating.then(() => this.#update());
    return this.#updating;
  }

  /** The entries a caller may use. */
  entriesFor(principal: Principal): Entry[] {
    return this.#sources.flatMap((source) =>
      [...(this.#entries.get(source)?.values() ?? [])].filter(({ thing }) => source.permits(principal, thing)),
    );
  }

  async #update(): Promise<void> {
    for (const source of this.#sources) {
      const { version } = source;
      if (this.#versions.get(source) === version) continue;
      await this.#read(source);
      this.#versions.set(source, version);
    }
    const passages = new Set<string>();
    for (const entries of this.#entries.values()) {
      for (const { passages: own } of entries.values()) {
        passages.add(own.whole);
        for (const sentence of own.sentences) passages.add(sentence);
      }
    }
    this.#meaning?.keepOnly(passages);
    this.#meaning?.want(passages);
  }

  async #read(source: Source): Promise<void> {
    const before = this.#entries.get(source) ?? new Map<string, Entry>();
    const after = new Map<string, Entry>();
    let read = 0;
    for (const thing of source.things()) {
      const key = keyOf(thing);
      const known = before.get(key);
      if (known !== undefined && isSame(known.thing, thing)) after.set(key, { ...known, thing });
      else {
        after.set(key, { key, thing, passages: passagesOf(thing) });
        this.words.put(key, `${thing.name} ${thing.context ?? ''} ${thing.text}`);
        read += 1;
        // Things are indexed in slices, so that other requests get their turn.
        if (read % AT_ONCE === 0) await nextTurn();
      }
    }
    for (const key of before.keys()) if (!after.has(key)) this.words.remove(key);
    this.#entries.set(source, after);
  }
}

/** Whether the searchable text is the same. */
function isSame(a: Thing, b: Thing): boolean {
  return a.name === b.name && a.text === b.text && a.context === b.context;
}

const AT_ONCE = 100;
