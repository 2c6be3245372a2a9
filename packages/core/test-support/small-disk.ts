import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/** A disk that can really be full: a file system in memory, of the size we want. It needs the right to mount. */
export interface SmallDisk extends Disposable {
  /** Empty, or ` (not here: …)` for the name of a test that is left out. */
  readonly why: string;
  /** Gives it another size. */
  resize(size: { megabytes: number }): void;
}

export function smallDisk(path: string, { megabytes }: { megabytes: number }): SmallDisk {
  mkdirSync(path, { recursive: true });
  const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'none', path];
  const { status, stderr, error } = spawnSync('mount', options, { encoding: 'utf8' });
  const why = status === 0 ? '' : ` (not here: ${(stderr ?? String(error)).trim()})`;
  return {
    why,
    resize({ megabytes: more }) {
      spawnSync('mount', ['-o', `remount,size=${more}m`, path]);
    },
    [Symbol.dispose]() {
      // The driver of Node 20 and 22 keeps the files of a closed database open until its statements are collected.
      if (why === '') spawnSync('umount', ['--lazy', path]);
    },
  };
}
