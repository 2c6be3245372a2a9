import { failure } from '@dragoman/protocols';
import { Ending } from '../ending/ending.ts';
import { Refused } from '../refusals/refused.ts';
import type { Slot } from './slots.ts';

/**
 * What a run answers: a request to a target, an execution of a workflow, or a call of a tool. Executions ask targets and targets
 * call tools, so a stop closes the kinds in this order.
 */
export const RUN_KINDS = ['execution', 'request', 'tool'] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/** Why a run ends here that another process continues. What it has asked for goes on there, too. */
export const LOST = new Refused(failure('interrupted'));

/** One run while it is in the table, whatever it answers. */
export abstract class ActiveRun extends Ending {
  abstract readonly kind: RunKind;
  /** Its key in the table, which sets it; `undefined` when it is over. */
  place: string | number | undefined;
  /** What it runs in; the table gives it back when the run is over. */
  slot: Slot | undefined;
  /** Its work has not begun: it waits for a slot. */
  isWaiting = false;

  /** The server stops and waits no longer: ends the run, or leaves it to the next start. */
  interrupt(): void {
    this.end(new Refused(failure('interrupted')));
  }
}
