import { modifiedAt } from '@dragoman/core';

/** Files of the operator's that something was made from, as they were then. */
export class ModuleFiles {
  #modified: ReadonlyMap<string, number | undefined>;

  constructor(paths: Iterable<string>) {
    this.#modified = new Map([...paths].map((path) => [path, modifiedAt(path)]));
  }

  /** Whether one of them has changed since, or is new. */
  isStale(path: string): boolean {
    return !this.#modified.has(path) || this.#modified.get(path) !== modifiedAt(path);
  }

  get anyStale(): boolean {
    return [...this.#modified.keys()].some((path) => this.isStale(path));
  }
}
