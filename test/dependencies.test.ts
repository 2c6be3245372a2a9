import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly version?: string;
  readonly hasInstallScript?: boolean;
}

const read = (path: string) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
const locked = Object.entries<Locked>(read('package-lock.json').packages).filter(
  ([path, { link }]) => path.includes('node_modules/') && link !== true,
);
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
/** The repository's own optional packages are for its tests: no published package has them. */
const forTests = new Set(Object.keys(read('package.json').optionalDependencies));
const runtime = locked
  .filter(([, { dev }]) => dev !== true)
  .map(([path]) => nameOf(path))
  .filter((name) => !forTests.has(name));

test('fewer than 60 packages are installed at run time', () => {
  expect(runtime.length).toBeLessThan(60);
});

test('no package that makes code out of schemas or routes is installed at run time', () => {
  expect(runtime.filter((name) => ['ajv', 'find-my-way', 'zod', '@modelcontextprotocol/sdk'].includes(name))).toEqual(
    [],
  );
});

test('every package with an install script is refused it, and one of them is installed at run time', () => {
  const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => nameOf(path));
  const { allowScripts } = read('package.json');
  expect(allowScripts).toEqual(Object.fromEntries(scripted.map((name) => [name, false])));
  expect(scripted.filter((name) => runtime.includes(name))).toEqual(['@photostructure/sqlite']);
});
