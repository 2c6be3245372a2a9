import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a thread from a file beside the caller: `startThread(import.meta.url, './sqlite-thread', …)`. Built, it is a file
 * like any other. From source, where Node does not read TypeScript by itself, it has to bring the loader along: a loader of
 * the main thread does not reach into others.
 */
export function startThread(from: string, file: string, options: WorkerOptions): Worker {
  if (!from.endsWith('.ts')) return new Worker(new URL(`${file}.js`, from), { execArgv: [], ...options });
  const source = new URL(`${file}.ts`, from);
  const code = `import { register } from '${import.meta.resolve('tsx/esm/api')}'; register(); await import('${source}');`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { execArgv: [], ...options });
}
