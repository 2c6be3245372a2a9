import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** The error for an operator's file that does not exist, or that Node cannot load. */
export class ModuleFault extends Error {
  readonly code: 'module_missing' | 'module_broken';
  readonly path: string;

  constructor(code: ModuleFault['code'], path: string, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.path = path;
  }
}

/**
 * The exports of an operator's JavaScript or TypeScript file. Errors name the part of the configuration that needs the
 * file, and the line if Node reports one; for a syntax error it does not.
 *
 * A file that has changed since its first load is read again. The files that it imports are not.
 */
export async function loadModule(what: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  requireRunnable(what, path);
  const modified = modifiedAt(path);
  if (modified === undefined) throw new ModuleFault('module_missing', path, `${what}: file not found: ${path}`);
  const first = firstLoads.get(path) ?? modified;
  firstLoads.set(path, first);
  const { href } = pathToFileURL(path);
  try {
    // Node caches modules by their whole URL, including those that failed to load.
    return await unlessStuck(import(modified === first ? href : `${href}?modified=${modified}`));
  } catch (error) {
    const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    const line = stack.split(path)[1]?.match(/^(?:\?modified=[\d.]+)?:(\d+)/)?.[1];
    const place = line === undefined ? path : `${path}, line ${line}`;
    throw new ModuleFault('module_broken', path, `${what}: ${place}: ${message}`, { cause: error });
  }
}

/** If a module waits for a promise that nothing can resolve, Node would end the process without an error. */
async function unlessStuck<T>(loading: Promise<T>): Promise<T> {
  let onStuck = () => {};
  const stuck = new Promise<never>((_, reject) => {
    onStuck = () => reject(new Error('it has a top-level await that never resolves'));
  });
  // One listener for all loading modules, because Node warns about many listeners.
  if (underWay.size === 0) process.on('beforeExit', reportStuck);
  underWay.add(onStuck);
  try {
    return await Promise.race([loading, stuck]);
  } finally {
    underWay.delete(onStuck);
    if (underWay.size === 0) process.off('beforeExit', reportStuck);
  }
}

function reportStuck(): void {
  for (const onStuck of underWay) onStuck();
}

/** When a file was last changed; `undefined` when there is none. */
export function modifiedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

function requireRunnable(what: string, path: string): void {
  if (!/\.[cm]?ts$/.test(path) || canRunTypeScript()) return;
  throw new Error(
    `${what}: ${path} is TypeScript, which needs Node 22.18 or newer; this is ${process.version}. Compile it to JavaScript, or upgrade.`,
  );
}

function canRunTypeScript(): boolean {
  return Boolean((process.features as { typescript?: unknown }).typescript);
}

/** The modification time of each file at its first load. One map for the process, like Node's cache of modules. */
const firstLoads = new Map<string, number>();
/** The callback for each loading file, called when the event loop is empty. */
const underWay = new Set<() => void>();
