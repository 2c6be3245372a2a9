import { Worker, type WorkerOptions } from 'node:worker_threads';
import { builtFromSource } from './built-from-source.ts';
import { THREADS } from './threads.ts';

/**
 * Starts a thread of ours. Built, it is a file beside this one, as all are. From source it is built first: a loader of the
 * main thread does not reach into others, and to bring one along costs each thread more than its work.
 */
export function startThread(name: keyof typeof THREADS, options: WorkerOptions): Worker {
  const place = import.meta.url.endsWith('.ts')
    ? new URL('thread.js', builtFromSource({ thread: THREADS[name] }))
    : new URL(`./${name}.js`, import.meta.url);
  return new Worker(place, { execArgv: [], ...options });
}
