import { Worker, type WorkerOptions } from 'node:worker_threads';
import { builtFromSource } from './built-from-source.ts';

/**
 * Starts a thread from a file beside the caller: `startThread(import.meta.url, './sqlite-thread', …)`. Built, it is a file
 * like any other. From source it is built first: a loader of the main thread does not reach into others, and to bring one
 * along costs each thread more than its work.
 */
export function startThread(from: string, file: string, options: WorkerOptions): Worker {
  const place = from.endsWith('.ts')
    ? new URL('thread.js', builtFromSource({ thread: new URL(`${file}.ts`, from) }))
    : new URL(`${file}.js`, from);
  return new Worker(place, { execArgv: [], ...options });
}
