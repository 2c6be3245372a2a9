import type { Shape } from '../operations/description.ts';
import { canonicalPath, covers, type Path } from '../path.ts';

/** The static knowledge about one place of the data model at one point of a run. */
export interface Known {
  readonly path: Path;
  /** The ids of the operations that may have written it last. */
  readonly by: readonly string[];
  /** `undefined`: anything. */
  readonly shapes: readonly Shape[] | undefined;
  /** Written on every path to this point. */
  readonly certain: boolean;
  /** An array that may be empty although its source was not. */
  readonly mayBeEmpty: boolean;
  /** The whole value can also be read one step below, under this name. */
  readonly alsoAt?: string | undefined;
}

/** The statically known data model. */
export class DataState {
  readonly #known: Map<string, Known>;

  constructor(known: ReadonlyMap<string, Known> = new Map()) {
    this.#known = new Map(known);
  }

  copy(): DataState {
    return new DataState(this.#known);
  }

  all(): Iterable<Known> {
    return this.#known.values();
  }

  exactly(path: Path): Known | undefined {
    return this.#known.get(canonicalPath(path));
  }

  write(path: Path, by: string, written: Pick<Known, 'shapes' | 'mayBeEmpty' | 'alsoAt'>): void {
    for (const [key, known] of this.#known) if (covers(path, known.path)) this.#known.delete(key);
    this.#known.set(canonicalPath(path), { path, by: [by], ...written, certain: true });
  }

  /** Records that a condition has found the value to exist and not to be empty. */
  assume(path: Path, by: string): void {
    const known = this.find(path) ?? { path, by: [by], shapes: undefined };
    this.#known.set(canonicalPath(known.path), { ...known, certain: true, mayBeEmpty: false });
  }

  /** The knowledge about the value at `path`: from the place itself, an outer place, or parts written below it. */
  find(path: Path): Known | undefined {
    let outer: Known | undefined;
    let certain = false;
    let inner: Known | undefined;
    for (const known of this.#known.values()) {
      if (covers(known.path, path)) {
        if (outer === undefined || known.path.keys.length > outer.path.keys.length) outer = known;
        certain ||= known.certain;
      } else if (covers(path, known.path)) {
        inner = inner === undefined ? asContainer(known, path) : joined(inner, asContainer(known, path));
      }
    }
    return outer === undefined ? inner : { ...outer, certain };
  }

  /** After a branch: values written by both branches are certain, others possible. */
  becomeEither(one: DataState, other: DataState): void {
    this.#known.clear();
    for (const key of new Set([...one.#known.keys(), ...other.#known.keys()])) {
      const a = one.#known.get(key);
      const b = other.#known.get(key);
      if (a === b && a !== undefined) this.#known.set(key, a);
      else if (a !== undefined && b !== undefined) {
        const by = [...new Set([...a.by, ...b.by])];
        const mayBeEmpty = a.mayBeEmpty || b.mayBeEmpty;
        const shapes = either(a.shapes, b.shapes);
        this.#known.set(key, { path: a.path, by, shapes, certain: a.certain && b.certain, mayBeEmpty });
      } else {
        const only = a ?? b;
        if (only !== undefined) this.#known.set(key, { ...only, certain: false });
      }
    }
  }
}

/** The container of a written part: an array if the key is an index, otherwise an object. */
function asContainer(part: Known, path: Path): Known {
  const step = part.path.keys[path.keys.length] ?? '';
  return { ...part, shapes: isIndex(step) ? undefined : ['object'], mayBeEmpty: false };
}

function joined(a: Known, b: Known): Known {
  const by = [...new Set([...a.by, ...b.by])];
  return { path: a.path, by, shapes: either(a.shapes, b.shapes), certain: a.certain || b.certain, mayBeEmpty: false };
}

export function isIndex(step: string): boolean {
  return /^\d+$/.test(step);
}

function either(a: readonly Shape[] | undefined, b: readonly Shape[] | undefined): readonly Shape[] | undefined {
  return a === undefined || b === undefined ? undefined : [...new Set([...a, ...b])];
}
