import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { given } from '../environment.ts';
import type { Surroundings } from '../surroundings.ts';

/** The possible folders of hosts without data, the best one first. They are always the same for one user. */
export function temporaryPlaces({ environment }: Pick<Surroundings, 'environment'>): string[] {
  // XDG Base Directory Specification: relative paths must be ignored.
  const runtime = given(environment, 'XDG_RUNTIME_DIR');
  const own = runtime !== undefined && isAbsolute(runtime) ? [join(runtime, 'dragoman')] : [];
  return [...own, join(tmpdir(), `dragoman-${process.getuid?.() ?? 'hosts'}`)];
}
