import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The server's source, made JavaScript once for all its starts: a loader would do it anew, a second of work each time. */
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
      // The store starts its thread from the file of this name beside its own.
      'sqlite-thread': source(crashPoints ? './crashing-thread.ts' : '../../packages/core/src/store/sqlite-thread.ts'),
      // And so do the executions of workflows.
      worker: source('../../packages/core/src/workflow/worker.ts'),
      'embedding-thread': source('../../packages/core/src/knowledge/embedding-thread.ts'),
      'signature-thread': source('../../packages/core/src/signing/signature-thread.ts'),
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
