import { modifiedAt } from '@dragoman/core';

/** Files of the operator from which something was loaded, with their modification times. */
export class ModuleFiles {
  #modified: ReadonlyMap<string, number | undefined>;

  constructor(paths: Iterable<string>) {
    this.#modified = new Map([...paths].map((path) => [path, modifiedAt(path)]));
  }

  /** Whether the file has changed since then, or was not among them. */
  isStale(path: string): boolean {
    return !this.#modified.has(path) || this.#modified.get(path) !== modifiedAt(path);
  }

  get anyStale(): boolean {
    return [...this.#modified.keys()].some((path) => this.isStale(path));
  }
}
