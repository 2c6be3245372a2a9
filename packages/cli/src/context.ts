import type { Surroundings } from './surroundings.ts';

/** 0: done; 1: failed; 2: the command was not understood. */
export type ExitCode = 0 | 1 | 2;

/** What a command gets: the parts of the process that it uses, and where it reports its exit code. */
export interface Context extends Surroundings {
  readonly finish: (code: ExitCode) => void;
}
