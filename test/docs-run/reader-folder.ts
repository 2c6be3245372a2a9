import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './page.ts';

/** For somebody who uses Dragoman: everything that is installed, and `npx dragoman` without npx's own second. */
export function readerFolder(folder: string): void {
  for (const name of ['node_modules', 'examples']) symlinkSync(ROOT + name, join(folder, name));
  mkdirSync(join(folder, '.bin'));
  writeFileSync(join(folder, '.bin/npx'), NPX, { mode: 0o755 });
}

/** For somebody who changes Dragoman: their own clone after `npm ci`. */
export function contributorFolder(folder: string): void {
  const listed = execFileSync(
    'git',
    [
      'ls-files',
      '-z',
      '--cached',
      '--others',
      '--exclude-standard',
      'packages',
      'scripts',
      'conformance',
      'bench',
      'test',
      '*.json',
      '*.ts',
    ],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  for (const file of listed.split('\0').filter((name) => name !== '')) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(ROOT + file, join(folder, file));
  }
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@dragoman'), { recursive: true });
  for (const name of readdirSync(`${ROOT}node_modules`)) {
    if (name !== '@dragoman' && name !== '.cache') symlinkSync(`${ROOT}node_modules/${name}`, join(modules, name));
  }
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(modules, '@dragoman', name));
  }
}

const NPX = `#!/bin/sh
[ "$1" = dragoman ] || { echo "only npx dragoman is there: $*" >&2; exit 127; }
shift
exec '${process.execPath}' '${ROOT}packages/cli/bin/dragoman.js' "$@"
`;
