// Builds every package into its dist folder: its modules bundled, the declarations of its types one a module. To load
// hundreds of small files takes longer than all else that a start does. What is not the package's own stays outside, and what
// is loaded late stays apart. A package whose sources, and those it uses, are as they were is left as it is.
//
//   npm run build
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle, type Plugin } from 'esbuild';
import { THREADS } from '../packages/core/src/threads/threads.ts';
import { PACKAGES, packagesInOrderOfUse } from './packages.ts';

/** Files that are reached by their path, besides what a package exports. */
const REACHED_BY_PATH: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  core: Object.fromEntries(Object.entries(THREADS).map(([name, source]) => [name, fileURLToPath(source)])),
  cli: {
    'main-entry': `${PACKAGES}cli/src/main-entry.ts`,
    // An example makes itself a certificate as `dragoman listen` does.
    'self-signed': `${PACKAGES}cli/src/listen/self-signed.ts`,
  },
};

/** Outside of `dist`, which is published. */
const STAMPS = fileURLToPath(new URL('../node_modules/.cache/dragoman-build/', import.meta.url));

mkdirSync(STAMPS, { recursive: true });
// Over all packages so far: a change in one builds those after it, too.
const digest = createHash('sha256');
for (const file of ['../tsconfig.base.json', 'build.ts']) digest.update(readFileSync(new URL(file, import.meta.url)));
for (const name of packagesInOrderOfUse()) {
  const sources = sourcesOf(name);
  for (const file of sources)
    digest
      .update(file)
      .update('\0')
      .update(readFileSync(`${PACKAGES}${name}/${file}`));
  const stamp = digest.copy().digest('hex');
  const stampFile = `${STAMPS}${name}`;
  const isBuilt =
    existsSync(`${PACKAGES}${name}/dist`) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  if (isBuilt) continue;
  rmSync(stampFile, { force: true });
  await build(name, sources);
  writeFileSync(stampFile, stamp);
}

async function build(name: string, sources: readonly string[]): Promise<void> {
  const folder = PACKAGES + name;
  const dist = `${folder}/dist`;
  rmSync(dist, { recursive: true, force: true });
  declare(folder);
  // All JavaScript lies flat in `dist`: a module that looks for a file beside itself, or above, finds it in whichever file it
  // has come to be.
  await bundle({
    entryPoints: { ...exportsOf(name), ...REACHED_BY_PATH[name] },
    outdir: dist,
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    // What knows nothing of Node is for browsers, too.
    platform: optionsOf(name).types.includes('node') ? 'node' : 'neutral',
    target: 'node20',
    charset: 'utf8',
    logLevel: 'warning',
    plugins: [validatorsApart()],
  });
  if (existsSync(`${folder}/src/generated`))
    cpSync(`${folder}/src/generated`, `${dist}/generated`, { recursive: true });
  // Agents and tools to be looked at, and loaded by their path.
  for (const file of sources) {
    if (file.endsWith('.mjs')) copyFileSync(`${folder}/${file}`, `${dist}/${basename(file)}`);
  }
}

/** Writes the declarations, and ends everything if a type is wrong. */
function declare(folder: string): void {
  const { status } = spawnSync('tsc', ['-p', folder, '--emitDeclarationOnly'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** The validators stay the files they are: small already, and each is left out by who bundles us and does not need it. */
function validatorsApart(): Plugin {
  return {
    name: 'validators-apart',
    setup(builder) {
      builder.onResolve({ filter: /\/generated\/[\w-]+\.js$/ }, ({ path }) => ({
        path: `./generated/${basename(path)}`,
        external: true,
        sideEffects: false,
      }));
    },
  };
}

/** The source of each export, by the name of its file in `dist`. */
function exportsOf(name: string): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(`${PACKAGES}${name}/package.json`, 'utf8')) as Manifest;
  const built = Object.values(exports).filter((target) => typeof target !== 'string');
  return Object.fromEntries(
    built.map((target) => [basename(target.default, '.js'), `${PACKAGES}${name}/${target['dragoman:source']}`]),
  );
}

function sourcesOf(name: string): string[] {
  const { rootDir } = optionsOf(name);
  const sources = readdirSync(`${PACKAGES}${name}/${rootDir}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !/\.(?:test|contract)\.ts$|(?:^|\/)fixtures\//.test(file))
    .map((file) => `${rootDir}/${file}`);
  return ['package.json', 'tsconfig.json', ...sources.sort()];
}

function optionsOf(name: string): { readonly rootDir: string; readonly types: readonly string[] } {
  return JSON.parse(readFileSync(`${PACKAGES}${name}/tsconfig.json`, 'utf8')).compilerOptions;
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly 'dragoman:source': string; readonly default: string }>>;
}
