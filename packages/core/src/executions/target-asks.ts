import type { Json, JsonObject } from '@dragoman/protocols';
import type { Principal } from '../call/principal.ts';
import type { Label } from '../workflow/label.ts';

/** A call from a running workflow to a target of the hub. */
export interface TargetAsk {
  /** The same in every run of the execution, so that the target is called once. */
  readonly requestId: string;
  readonly target: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly timeoutMs: number;
  /** How many workflows and agents are between the first caller and this call. */
  readonly hops: number;
  /** The labels of the data in the parameters. */
  readonly carries: readonly Label[];
}

/** Calls a target on behalf of a caller. Rejects with `Refused` when there is no result. */
export type AskTarget = (
  ask: TargetAsk,
  by: { readonly principal: Principal; readonly signal: AbortSignal },
) => Promise<Json>;
