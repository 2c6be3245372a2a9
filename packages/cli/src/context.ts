import type { Surroundings } from './surroundings.ts';

/** 0 done, 1 failed, 2 not understood. */
export type ExitCode = 0 | 1 | 2;

/** What a command gets: its surroundings, and where it says how it ended. */
export interface Context extends Surroundings {
  readonly finish: (code: ExitCode) => void;
}
