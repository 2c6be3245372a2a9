import { DIALECTS, type Dialect, dialectNamed, nearest } from '@dragoman/protocols';
import { fail } from './trouble.ts';

/** The dialect with this name. An unknown name is a usage error. */
export function dialectOption(flag: string, name: string): Dialect<unknown> {
  const dialect = dialectNamed(name);
  if (dialect !== undefined) return dialect;
  const close = nearest(name, DIALECT_NAMES);
  fail({
    code: 'unknown_dialect',
    message: `${flag} must be one of ${DIALECT_NAMES.join(', ')}; got ${JSON.stringify(name)}`,
    ...(close !== undefined && { fixes: [`did you mean ${close}?`] }),
    exitCode: 2,
  });
}

export const DIALECT_NAMES: readonly string[] = DIALECTS.map(({ name }) => name);
