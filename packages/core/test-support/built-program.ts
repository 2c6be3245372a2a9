import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtFromSource } from '../src/threads/built-from-source.ts';

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

const THREADS = {
  'sqlite-thread': new URL('../src/store/sqlite-thread.ts', import.meta.url),
  worker: new URL('../src/workflow/worker.ts', import.meta.url),
  'embedding-thread': new URL('../src/knowledge/embedding-thread.ts', import.meta.url),
  'signature-thread': new URL('../src/signing/signature-thread.ts', import.meta.url),
};
