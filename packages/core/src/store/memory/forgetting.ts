import type { ForgettingStore, Forgotten, Removed } from '../forgetting.ts';
import type { ExecutionKey, RequestKey } from '../store.ts';
import type { Perform } from './perform.ts';

/** A part of the store that can take out what is an owner's, for who performs something already. */
export interface Forgets<Count extends keyof Forgotten> {
  forget(owner: string): Pick<Forgotten, Count>;
}

/** A part of the store that has something of a request beside the request itself; for who performs something already. */
export interface ForgetsRequest {
  /** Whether something of it is still to be done. */
  owes(key: RequestKey): boolean;
  /** Whether there was anything. */
  forgetRequest(key: RequestKey): boolean;
}

/** What the families do to forget. */
export interface MemoryForgettingOptions {
  readonly perform: Perform;
  readonly removeRequest: (key: RequestKey) => Removed;
  readonly besideRequests: readonly ForgetsRequest[];
  readonly removeExecution: (key: ExecutionKey) => Removed;
  /** Each forgets what is an owner's, and tells how much. */
  readonly families: readonly ((owner: string) => Partial<Forgotten>)[];
}

/** Forgetting in memory: what nobody refers to is gone. */
export function memoryForgetting(options: MemoryForgettingOptions): ForgettingStore {
  const { perform, removeRequest, besideRequests, removeExecution, families } = options;
  return {
    request: (key) =>
      perform(() => {
        if (besideRequests.some((part) => part.owes(key))) return 'under_way';
        const removed = removeRequest(key);
        if (removed === 'under_way') return removed;
        const hadMore = besideRequests.map((part) => part.forgetRequest(key)).includes(true);
        return hadMore ? 'removed' : removed;
      }),
    execution: (key) => perform(() => removeExecution(key)),
    caller: (owner) =>
      perform(() => {
        const told = families.map((forget) => forget(owner));
        const underWay = told.reduce((sum, one) => sum + (one.underWay ?? 0), 0);
        return { ...NOTHING, ...Object.assign({}, ...told), underWay };
      }),
  };
}

const NOTHING: Forgotten = {
  requests: 0,
  sessions: 0,
  executions: 0,
  storedKeys: 0,
  threadMessages: 0,
  callbacks: 0,
  memories: 0,
  underWay: 0,
  files: [],
};
