import { failure } from '@dragoman/protocols';
import { Ending } from '../ending/ending.ts';
import { Refused } from '../refusals/refused.ts';
import type { Slot } from './slots.ts';

/**
 * The kinds of runs: an execution of a workflow, a request to a target, or a call of a tool. Executions call targets and targets
 * call tools, so a stop closes the kinds in this order.
 */
export const RUN_KINDS = ['execution', 'request', 'tool'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/** Why a run ends here that another process continues. Its calls of targets and tools continue there, too. */
export const LOST = new Refused(failure('interrupted'));

/** A run of any kind while it is in the table. */
export abstract class ActiveRun extends Ending {
  abstract readonly kind: RunKind;
  /** Its key in the table, which sets it; `undefined` when it is over. */
  place: string | number | undefined;
  /** The slot it runs in; the table releases it when the run is over. */
  slot: Slot | undefined;
  /** It has not started yet: it waits for a slot. */
  isWaiting = false;

  /** The server stops without waiting any longer: ends the run, or leaves it to the next start. */
  interrupt(): void {
    this.end(new Refused(failure('interrupted')));
  }
}
