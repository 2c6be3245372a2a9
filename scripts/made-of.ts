import { createHash } from 'node:crypto';
import { build, version } from 'esbuild';

/**
 * A digest of all the code that each of these modules consists of: its own, ours that it imports, and libraries. What is made
 * by running it need not be made again while this stays the same.
 */
export async function madeOf(files: readonly string[]): Promise<string[]> {
  const { outputFiles } = await build({
    entryPoints: files.map((file, index) => ({ in: file, out: String(index) })),
    outdir: '/',
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['dragoman:source'],
    // A new comment makes nothing else of it.
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'silent',
    external: ['esbuild'],
    plugins: [
      {
        name: 'without validators',
        setup(builder) {
          // They are made from shapes, and no shape from them.
          builder.onResolve({ filter: /\/generated\/[\w-]+\.js$/ }, ({ path }) => ({ path, external: true }));
        },
      },
    ],
  });
  const digests = new Map(outputFiles.map(({ path, contents }) => [path, digest(version, contents)]));
  return files.map((file, index) => {
    const found = digests.get(`/${index}.js`);
    if (found === undefined) throw new Error(`nothing came of ${file}`);
    return found;
  });
}

export function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}\0`).update(part);
  return hash.digest('hex');
}
