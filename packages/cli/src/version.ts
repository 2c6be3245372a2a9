import { readFileSync } from 'node:fs';

/** The version of this package; all of Dragoman's have the same. */
export const CLI_VERSION: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version;
