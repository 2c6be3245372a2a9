import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Reserves space on the disk in a file: on a full disk even a DELETE needs space, and gets that of the file. */
export class Ballast {
  readonly #path: string;
  readonly #bytes: number;
  #held: boolean;

  constructor({ path, bytes }: { path: string; bytes: number }) {
    this.#path = path;
    this.#bytes = bytes;
    this.#held = statSync(path, { throwIfNoEntry: false })?.size === bytes || bytes === 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the file is in place. */
  get held(): boolean {
    return this.#held;
  }

  release(): void {
    rmSync(this.#path, { force: true });
    this.#held = this.#bytes === 0;
  }

  /** Creates the file if the disk has space for it. Returns whether it is in place. */
  restore(): boolean {
    if (this.#held) return true;
    const { bavail, bsize } = statfsSync(dirname(this.#path));
    if (bavail * bsize < this.#bytes + MARGIN) return false;
    try {
      this.release();
      this.#fill();
      this.#held = true;
    } catch {
      // Another program took the space first.
      this.release();
    }
    return this.#held;
  }

  #fill(): void {
    const file = openSync(this.#path, 'wx', 0o600);
    try {
      // Random bytes, because a compressing file system would reserve no space for zeros.
      const noise = randomBytes(Math.min(this.#bytes, 1_048_576));
      for (let left = this.#bytes; left > 0; ) left -= writeSync(file, noise, 0, Math.min(left, noise.length));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

/** The space that must remain free, so that restoring it does not fill the disk again. */
const MARGIN = 1_048_576;
