import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** A file of the operator's that is not there, or that Node cannot load. */
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
 * What a JavaScript or TypeScript file of the operator's exports. What is wrong with it is told by the name of what wants it,
 * and the line where Node knows it: of a syntax error it does not say it here.
 */
export async function loadModule(what: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  requireRunnable(what, path);
  if (!existsSync(path)) throw new ModuleFault('module_missing', path, `${what}: there is no file ${path}`);
  const { href } = pathToFileURL(path);
  try {
    return await import(href);
  } catch (error) {
    const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
    const line = stack.split(`${path}:`)[1]?.match(/^\d+/)?.[0];
    const place = line === undefined ? path : `${path}, line ${line}`;
    throw new ModuleFault('module_broken', path, `${what}: ${place}: ${message}`, { cause: error });
  }
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
