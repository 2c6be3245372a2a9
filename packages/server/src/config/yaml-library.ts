import { createRequire } from 'node:module';

/** Loaded on first use: a server without a configuration file does not need it. */
export function yamlLibrary(): typeof import('yaml') {
  return load('yaml');
}

const load = createRequire(import.meta.url);
