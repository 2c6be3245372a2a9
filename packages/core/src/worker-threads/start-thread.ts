import { Worker, type WorkerOptions } from 'node:worker_threads';
import { builtFromSource } from './built-from-source.ts';
import { THREADS } from './threads.ts';

/**
 * Starts one of our threads. In the built package, the thread is a file beside this one. From source it is built first:
 * the loader of the main thread does not work in other threads, and loading one in each thread takes longer than the
 * thread's work.
 */
export function startThread(name: keyof typeof THREADS, options: WorkerOptions): Worker {
  const place = import.meta.url.endsWith('.ts')
    ? new URL('thread.js', builtFromSource({ thread: THREADS[name] }))
    : new URL(`./${name}.js`, import.meta.url);
  return new Worker(place, { execArgv: [], ...options });
}
