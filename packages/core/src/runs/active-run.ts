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

/**
 * The reason with which a run ends in this process when another process continues it, with its calls of targets and
 * tools.
 */
export const LOST = new Refused(failure('interrupted'));

/** A run of any kind while it is in the table. */
export abstract class ActiveRun extends Ending {
  abstract readonly kind: RunKind;
  /** Its key in the table, which sets it; `undefined` when it is over. */
  place: string | number | undefined;
  /** The slot it runs in; the table releases it when the run is over. */
  slot: Slot | undefined;
  /** Whether the run still waits for a slot. */
  isWaiting = false;

  /** Called when a stop waits no longer: ends the run, or leaves it to the next start. */
  interrupt(): void {
    this.end(new Refused(failure('interrupted')));
  }
}
