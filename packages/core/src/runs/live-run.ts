import type { E2AResponse } from '@dragoman/protocols';
import type { RunningCall } from '../call.ts';
import { Ending } from '../ending.ts';
import type { RequestKey, RequestRow } from '../store/store.ts';
import type { Readers } from './readers.ts';
import type { Run } from './run.ts';

/** A request while it is being answered, with the handles its call has. */
export class LiveRun extends Ending implements RunningCall {
  readonly row: RequestRow;
  readonly run: Run;
  readonly name: string;
  done: Promise<void> = Promise.resolve();
  held: Hold | undefined;
  /** Where the caller wants it to end with the last of them. */
  readers: Readers | undefined;
  /** For its turn: the agent has not been asked. */
  isWaiting = false;
  /** It was begun before it was recorded, and cannot be; or it is left to the next start. Nothing more is to be given. */
  isAbandoned = false;
  /** Gives a frame in between; set while it is being answered. */
  insert: ((frame: Partial<E2AResponse>) => Promise<void>) | undefined;
  /** To be told when it is over. */
  readonly over: (() => void)[] = [];

  constructor(row: RequestRow, run: Run) {
    super();
    this.row = row;
    this.run = run;
    this.name = nameOf(row);
  }

  get running(): RunningCall {
    return this;
  }

  async tell(frame: Partial<E2AResponse>): Promise<void> {
    if (this.insert === undefined || this.run.answered) throw new Error('the answer is over');
    await this.insert(frame);
  }

  onOver(callback: () => void): void {
    this.over.push(callback);
  }
}

/** A door that stays shut until it is released. */
export interface Hold {
  readonly released: Promise<void>;
  release(): void;
}

export function holding(): Hold {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { released, release };
}

/** One name for a request among those of everybody. */
export function nameOf({ owner, requestId }: RequestKey): string {
  // An agent id has no line break in it.
  return `${owner}\n${requestId}`;
}
