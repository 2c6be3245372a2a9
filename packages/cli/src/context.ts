import type { Surroundings } from './surroundings.ts';

/** 0 done, 1 failed, 2 not understood. */
export type ExitCode = 0 | 1 | 2;

/** The context of a command: its surroundings, and where it reports its result. */
export interface Context extends Surroundings {
  readonly finish: (code: ExitCode) => void;
}
