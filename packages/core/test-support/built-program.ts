import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtFromSource } from '../src/worker-threads/built-from-source.ts';
import { THREADS } from '../src/worker-threads/threads.ts';

/**
 * The file of a program of ours that is started again and again: with a loader each start would take seconds of work. The
 * threads it may start, and modules it looks for by their own names, are beside it.
 */
export function builtProgram(source: URL, { beside = [] }: { beside?: readonly URL[] } = {}): string {
  const name = basename(source.pathname, extname(source.pathname));
  const modules = {
    ...THREADS,
    ...Object.fromEntries(beside.map((url) => [basename(url.pathname), url])),
    [name]: source,
  };
  return fileURLToPath(new URL(`${name}.js`, builtFromSource(modules)));
}
