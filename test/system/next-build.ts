import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';

/** The server as its next release could be: another version, which adds to the tables what this one does not know. */
export class NextBuild implements Disposable {
  static readonly version = '0.99.0';
  readonly #folder = mkdtempSync(join(tmpdir(), 'dragoman-next-'));
  /** The folder of its code. */
  readonly code = join(this.#folder, 'dist');

  constructor() {
    const usual = dirname(inject('servers').usual);
    cpSync(usual, this.#folder, { recursive: true, verbatimSymlinks: true });
    replaceIn(join(this.#folder, 'package.json'), /"version": "[^"]+"/, `"version": "${NextBuild.version}"`);
    const added = ADDED.map((step) => `, ${JSON.stringify(step)}`).join('');
    replaceIn(join(this.code, 'server-process.js'), STEPS_END, `${added}$&`);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function replaceIn(path: string, pattern: RegExp, text: string): void {
  const before = readFileSync(path, 'utf8');
  if (!pattern.test(before)) throw new Error(`${path} has nothing like ${pattern}`);
  writeFileSync(path, before.replace(pattern, text));
}

/** Of the steps that make the tables. */
const STEPS_END = /\s*\]\.map\(\(\w+\) => \w+\.replaceAll\(\/\(\\w\+\) text/;
const ADDED = [
  "ALTER TABLE requests ADD COLUMN later text NOT NULL DEFAULT ''",
  'ALTER TABLE open_requests ADD COLUMN later integer NOT NULL DEFAULT 0',
  'ALTER TABLE execution_effects ADD COLUMN later integer NOT NULL DEFAULT 0',
  'CREATE TABLE later (id integer PRIMARY KEY)',
];
