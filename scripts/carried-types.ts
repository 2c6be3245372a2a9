import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/**
 * Copies the declarations that the declarations in `dist` use of another package of this repository into `dist/<its name>`, and
 * makes them use the copies: the package can then be installed without the other one.
 */
export function carryTypes(dist: string, packages: string, carried: string): void {
  const folder = join(packages, carried);
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const typesOf = (specifier: string): string => {
    const types = exports[specifier.replace(`@dragoman/${carried}`, '.')]?.types;
    if (typeof types !== 'string') throw new Error(`${specifier} has no types`);
    return posix.relative('dist', posix.normalize(types));
  };
  const needed = new Set<string>();
  for (const file of readdirSync(dist).filter((name) => name.endsWith('.d.ts'))) {
    const text = readFileSync(join(dist, file), 'utf8').replaceAll(
      new RegExp(`'(@dragoman/${carried}(?:/[\\w-]+)?)'`, 'g'),
      (_, specifier: string) => {
        needed.add(typesOf(specifier));
        return `'./${carried}/${typesOf(specifier).replace(/\.d\.ts$/, '.js')}'`;
      },
    );
    writeFileSync(join(dist, file), text);
  }
  // A set gives what is added to it while it is walked.
  for (const file of needed) {
    const target = join(dist, carried, file);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(folder, 'dist', file), target);
    for (const [, path = ''] of readFileSync(target, 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
      needed.add(posix.join(posix.dirname(file), path.replace(/\.[jt]s$/, '.d.ts')));
    }
  }
}
