import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Bundles our own modules into JavaScript that runs without a loader, for use from source. Returns the folder with a `<name>.js`
 * for each, or `<name>` for a name that ends in `.mjs`. The folder is named by a hash of its content, so builds are reused.
 */
export function builtFromSource(modules: Readonly<Record<string, URL>>): URL {
  const entries = Object.entries(modules).map(([name, source]) => [name, fileURLToPath(source)] as const);
  const key = JSON.stringify(entries);
  const folder = built.get(key) ?? build(Object.fromEntries(entries));
  built.set(key, folder);
  return folder;
}

/** The folders of the modules this process has built. */
const built = new Map<string, URL>();

function build(entryPoints: Readonly<Record<string, string>>): URL {
  const { outputFiles }: { outputFiles: readonly { path: string; contents: Uint8Array }[] } = createRequire(
    import.meta.url,
  )('esbuild').buildSync({
    entryPoints,
    outdir: '/',
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['dragoman:source'],
    external: dependencies(),
    logLevel: 'silent',
  });
  const files = outputFiles.map(({ path, contents }) => ({
    name: basename(path).replace(/\.mjs\.js$/, '.mjs'),
    contents,
  }));
  const digest = createHash('sha256');
  for (const { name, contents } of files) digest.update(`${name}\0`).update(contents);
  const place = new URL(`${digest.digest('hex').slice(0, 24)}/`, BUILT);
  if (!existsSync(place)) putInPlace(place, files);
  return new URL('dist/', place);
}

/** The dependencies of other authors, which stay external. */
function dependencies(): string[] {
  const names = readdirSync(PACKAGES).flatMap((name) => {
    const path = new URL(`${name}/package.json`, PACKAGES);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(path, 'utf8'));
    return Object.keys({ ...dependencies, ...optionalDependencies });
  });
  return names.filter((name) => !name.startsWith('@dragoman/')).flatMap((name) => [name, `${name}/*`]);
}

/**
 * Writes the files as in an installed package: the code in `dist`, `package.json` above it. The folder appears
 * complete.
 */
function putInPlace(place: URL, files: readonly { name: string; contents: Uint8Array }[]): void {
  const half = new URL(`${place.href.slice(0, -1)}.${process.pid}/`);
  const dist = new URL('dist/', half);
  mkdirSync(dist, { recursive: true });
  for (const { name, contents } of files) writeFileSync(new URL(name, dist), contents);
  copyFileSync(new URL('../../package.json', import.meta.url), new URL('package.json', half));
  try {
    renameSync(half, place);
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    // Another process was faster.
    if (!existsSync(place)) throw error;
  }
}

const PACKAGES = new URL('../../../', import.meta.url);
/** Below `node_modules`, so that the built code finds the same packages as the source. */
const BUILT = new URL('../../../../node_modules/.cache/dragoman-from-source/', import.meta.url);
