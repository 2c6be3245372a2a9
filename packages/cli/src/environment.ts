import type { Surroundings } from './surroundings.ts';
import { fail } from './trouble.ts';

type Environment = Surroundings['environment'];

/** The value of a variable. An empty one counts as not set. */
export function given(environment: Environment, name: string): string | undefined {
  const value = environment[name];
  return value === '' ? undefined : value;
}

export function portIn(environment: Environment): number | undefined {
  const text = given(environment, 'DRAGOMAN_PORT');
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  fail({
    code: 'bad_environment',
    message: `DRAGOMAN_PORT must be a whole number from 0 to 65535; got ${JSON.stringify(text)}`,
    fixes: ['unset DRAGOMAN_PORT, or set it to 0 for any free port'],
  });
}

/** The defaults for values that neither a flag, the environment nor the file sets. */
export const DEFAULT_CONFIG = 'dragoman.yaml';
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 7420;
export const DEFAULT_DATA = '.dragoman';
