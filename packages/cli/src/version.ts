import { readFileSync } from 'node:fs';

/** The version of this package, which all packages of Dragoman share. */
export const CLI_VERSION: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;
