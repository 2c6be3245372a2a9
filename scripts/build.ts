// Builds every package into its dist folder: its modules bundled for Node, where to load hundreds of small files takes longer
// than all else that a start does, and the declarations of its types. What is not the package's own stays outside of the
// bundle, and what is loaded late stays apart. The exception is a package of ours that is only a devDependency: it is carried
// inside, with its types, so that the other one can be installed alone. A package for browsers also has its modules one by one: who bundles those can
// leave out what is not used. The console is a page, bundled for browsers, and goes into the server's package. A package whose
// sources, and those it uses, are as they were is left as it is.
//
//   npm run build
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle, type Plugin } from 'esbuild';
import { THREADS } from '../packages/core/src/worker-threads/threads.ts';
import { buildConsole } from './build-console.ts';
import { carryTypes } from './carried-types.ts';
import { PACKAGES, packagesInOrderOfUse } from './packages.ts';

/** What is reached by the path of its file, besides what a package exports. */
const REACHED_BY_PATH: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  core: Object.fromEntries(Object.entries(THREADS).map(([name, source]) => [name, fileURLToPath(source)])),
  cli: {
    'main-entry': `${PACKAGES}cli/src/main-entry.ts`,
    // An example makes itself a certificate as `dragoman listen` does.
    'self-signed': `${PACKAGES}cli/src/listen/self-signed.ts`,
  },
};

const SOURCE = /\.(?:[cm]?[jt]s|tsx|css|html|svg)$/;

/** Outside of `dist`, which is published. */
const STAMPS = fileURLToPath(new URL('../node_modules/.cache/dragoman-build/', import.meta.url));

mkdirSync(STAMPS, { recursive: true });
// Over all packages so far: a change in one builds those after it, too.
const digest = createHash('sha256');
for (const file of ['../tsconfig.base.json', 'build.ts', 'build-console.ts', 'carried-types.ts'])
  digest.update(readFileSync(new URL(file, import.meta.url)));
for (const name of packagesInOrderOfUse()) {
  const folder = PACKAGES + name;
  const sources = sourcesOf(folder);
  for (const file of sources)
    digest
      .update(file)
      .update('\0')
      .update(readFileSync(`${folder}/${file}`));
  const stamp = digest.copy().digest('hex');
  const stampFile = `${STAMPS}${name}`;
  const isBuilt = existsSync(`${folder}/dist`) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  if (isBuilt) continue;
  rmSync(stampFile, { force: true });
  await build(name, sources);
  writeFileSync(stampFile, stamp);
}

async function build(name: string, sources: readonly string[]): Promise<void> {
  const folder = PACKAGES + name;
  if (name === 'console') return buildConsole(`${folder}/dist`);
  const { exports, devDependencies = {} }: Manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const carried = Object.keys(devDependencies)
    .filter((used) => used.startsWith('@dragoman/') && used !== '@dragoman/console')
    .map((used) => used.replace('@dragoman/', ''));
  const modules = Object.values(exports).filter((target) => typeof target !== 'string');
  const isForBrowsers = modules.some((target) => target.node !== undefined);
  rmSync(`${folder}/dist`, { recursive: true, force: true });
  compile(folder, isForBrowsers ? [] : ['--emitDeclarationOnly']);
  const exported = modules.map((target) => [
    basename(target.node ?? target.default, '.js'),
    `${folder}/${target['dragoman:source']}`,
  ]);
  // All of it lies flat in one folder: a module that looks for a file beside itself, or for the manifest above, finds it in
  // whichever file it has come to be.
  await bundle({
    entryPoints: { ...Object.fromEntries(exported), ...REACHED_BY_PATH[name] },
    outdir: `${folder}/dist${isForBrowsers ? '/node' : ''}`,
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    ...(carried.length > 0 ? { conditions: ['dragoman:source'] } : { packages: 'external' }),
    format: 'esm',
    platform: 'node',
    target: 'node20',
    charset: 'utf8',
    logLevel: 'warning',
    plugins: carried.length > 0 ? [] : [validatorsAt(isForBrowsers ? '../generated' : './generated')],
  });
  for (const other of carried) carryTypes(`${folder}/dist`, PACKAGES, other);
  for (const file of sources) {
    if (file.startsWith('src/generated/')) cpSync(`${folder}/${file}`, `${folder}/dist/${file.slice('src/'.length)}`);
  }
  if (name === 'server') cpSync(`${PACKAGES}console/dist`, `${folder}/dist/web`, { recursive: true });
  // Agents and tools of the demo, loaded by their path and there to be looked at.
  for (const file of sources) {
    if (file.endsWith('.mjs')) copyFileSync(`${folder}/${file}`, `${folder}/dist/${basename(file)}`);
  }
}

/** Runs the compiler, and ends everything if a type is wrong. */
function compile(folder: string, options: readonly string[]): void {
  const { status } = spawnSync('tsc', ['-p', folder, ...options], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/** Validators keep their files, without spaces: the engine keeps the text of every loaded file in memory. */
function validatorsAt(folder: string): Plugin {
  return {
    name: 'validators',
    setup(builder) {
      builder.onResolve({ filter: /\/generated\/[\w-]+\.js$/ }, ({ path }) => ({
        path: `${folder}/${basename(path)}`,
        external: true,
        sideEffects: false,
      }));
    },
  };
}

function sourcesOf(folder: string): string[] {
  const { rootDir = 'src' } = JSON.parse(readFileSync(`${folder}/tsconfig.json`, 'utf8')).compilerOptions;
  const sources = readdirSync(`${folder}/${rootDir}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => SOURCE.test(file) && !/\.(?:test|contract)\.ts$|(?:^|\/)fixtures\//.test(file))
    .map((file) => `${rootDir}/${file}`);
  const more = existsSync(`${folder}/vite.config.ts`) ? ['vite.config.ts'] : [];
  return ['package.json', 'tsconfig.json', ...more, ...sources.sort()];
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | Module>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

interface Module {
  readonly 'dragoman:source': string;
  /** For Node, where `default` is for browsers. */
  readonly node?: string;
  readonly default: string;
}
