import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the packages, with a slash at its end. */
export const PACKAGES: string = fileURLToPath(new URL('../packages/', import.meta.url));

/** Every package after those it uses: what one makes, the next one needs. */
export function packagesInOrderOfUse(): string[] {
  const names = readdirSync(PACKAGES);
  const ordered: string[] = [];
  const add = (name: string): void => {
    if (ordered.includes(name) || !names.includes(name)) return;
    const manifest = JSON.parse(readFileSync(`${PACKAGES}${name}/package.json`, 'utf8'));
    const uses = { ...manifest.dependencies, ...manifest.devDependencies };
    for (const used of Object.keys(uses)) add(used.replace('@dragoman/', ''));
    ordered.push(name);
  };
  for (const name of names) add(name);
  return ordered;
}

/** The packages that a release publishes: all that are not private, each after those it uses. */
export function publishedPackages(): string[] {
  return packagesInOrderOfUse().filter((name) => {
    const manifest = JSON.parse(readFileSync(`${PACKAGES}${name}/package.json`, 'utf8'));
    return manifest.private !== true;
  });
}
