import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { THREADS } from '../../packages/core/src/threads/threads.ts';

/**
 * The server's source, made JavaScript once for all its starts: a loader would do it anew, a second of work each time. Unlike
 * what `builtFromSource` makes, nearly all it depends on is inside: these tests start it hundreds of times.
 */
export interface BuiltServer extends Disposable {
  readonly folder: string;
  readonly entry: string;
}

export interface BuildOptions {
  readonly crashPoints: boolean;
  /** The `dragoman` command too. */
  readonly command?: boolean;
}

export async function buildServer({ crashPoints, command = false }: BuildOptions): Promise<BuiltServer> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-built-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const outdir = join(folder, 'dist');
  const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  // As when it is installed: the code in `dist`, its version above it, and the SQLite driver within reach.
  copyFileSync(source('../../packages/server/package.json'), join(folder, 'package.json'));
  symlinkSync(source('../../node_modules'), join(folder, 'node_modules'));
  await build({
    entryPoints: {
      'server-process': source('./server-process.ts'),
      ...Object.fromEntries(Object.entries(THREADS).map(([name, file]) => [name, fileURLToPath(file)])),
      ...(crashPoints && { 'sqlite-thread': source('./crashing-thread.ts') }),
      ...(command && { dragoman: source('../../packages/cli/src/main-entry.ts') }),
      ...(crashPoints && { 'crashing-engine': source('./crashing-engine.ts') }),
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
  }).catch((error: unknown) => {
    remove();
    throw error;
  });
  return {
    folder,
    entry: join(outdir, 'server-process.js'),
    [Symbol.dispose]: remove,
  };
}

// Some dependencies are CommonJS inside, and ask for Node's own modules their way.
const REQUIRE = `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);`;
