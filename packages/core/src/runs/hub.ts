import type { Handler } from '../call/handler.ts';
import type { Runs } from './runs.ts';

/** The engine, for code that calls a target on behalf of a caller. */
export interface Hub {
  readonly handle: Handler;
  readonly runs: Pick<Runs, 'cancel'>;
}
