import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle } from 'esbuild';
import type { TestProject } from 'vitest/node';
import { THREADS } from '../../packages/core/src/worker-threads/threads.ts';
import { isAlive } from '../../packages/core/test-support/is-alive.ts';
import { buildConsole } from '../../scripts/build-console.ts';

declare module 'vitest' {
  interface ProvidedContext {
    servers: BuiltServers;
  }
}

/** The folders of the server as JavaScript. */
interface BuiltServers {
  /** With the `dragoman` command beside it. */
  readonly usual: string;
  /** With a store thread that dies at crash points. */
  readonly crashing: string;
}

/**
 * Makes JavaScript of the server's source once for all tests: a loader would do it again at each start, and to bundle takes longer
 * than most of them. Unlike what `builtFromSource` makes, nearly all it depends on is inside: these tests start it hundreds of times.
 */
export async function setup({ provide }: TestProject): Promise<() => void> {
  shared[ONCE] ??= buildAll();
  const { folder, servers } = await shared[ONCE];
  provide('servers', servers);
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Several projects use them in one process, and each loads this module for itself. */
const ONCE = Symbol.for('dragoman.built-servers');
const shared = globalThis as { [ONCE]?: ReturnType<typeof buildAll> };

async function buildAll(): Promise<{ folder: string; servers: BuiltServers }> {
  removeOrphans();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  try {
    const [usual, crashing] = await Promise.all([
      build(join(folder, 'usual'), { crashPoints: false }),
      build(join(folder, 'crashing'), { crashPoints: true }),
    ]);
    return { folder, servers: { usual, crashing } };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

async function build(folder: string, { crashPoints }: { crashPoints: boolean }): Promise<string> {
  mkdirSync(folder);
  const outdir = join(folder, 'dist');
  const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  // As when it is installed: the code in `dist`, its version above it, and the SQLite driver within reach.
  copyFileSync(source('../../packages/server/package.json'), join(folder, 'package.json'));
  symlinkSync(source('../../node_modules'), join(folder, 'node_modules'));
  await bundle({
    entryPoints: {
      'server-process': source('./server-process.ts'),
      ...Object.fromEntries(Object.entries(THREADS).map(([name, file]) => [name, fileURLToPath(file)])),
      ...(crashPoints && { 'sqlite-thread': source('./crashing-thread.ts') }),
      ...(crashPoints && { 'crashing-engine': source('./crashing-engine.ts') }),
      ...(!crashPoints && { dragoman: source('../../packages/cli/src/main-entry.ts') }),
    },
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['dragoman:source'],
    // It reads its weights from beside its own files.
    external: ['@energetic-ai/*'],
    banner: { js: REQUIRE },
    logLevel: 'silent',
  });
  if (!crashPoints) await buildConsole(join(outdir, 'web'));
  return outdir;
}

/** What a run of the tests that was killed could not remove. */
function removeOrphans(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    if (pid > 0 && !isAlive(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

const PREFIX = 'dragoman-built-';
// Some dependencies are CommonJS inside, and ask for Node's own modules their way.
const REQUIRE = `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`;
