import { createRequire } from 'node:module';

/** Loaded with the first YAML there is to read: a server without a configuration file never needs its seventy files. */
export function yamlLibrary(): typeof import('yaml') {
  return load('yaml');
}

const load = createRequire(import.meta.url);
