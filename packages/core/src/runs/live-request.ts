import { type E2AAuth, type E2AResponse, failure } from '@dragoman/protocols';
import type { RunningCall } from '../call/call.ts';
import { Refused } from '../refusals/refused.ts';
import type { RequestKey, RequestRow } from '../store/store.ts';
import { ActiveRun, LOST } from './active-run.ts';
import type { Readers } from './readers.ts';
import type { FrameSource } from './reading.ts';
import type { RecordedFrames } from './recorded-frames.ts';
import type { Run } from './run.ts';

/** A request while it waits or is being answered. Its call has it as `running`. */
export class LiveRequest extends ActiveRun implements RunningCall {
  readonly kind = 'request';
  readonly row: RequestRow;
  readonly run: Run;
  /** Whether its target can give the answer again after a restart. */
  readonly canContinue: boolean;
  /** The frames that an earlier process recorded; present only for an answer that is continued. */
  readonly recorded: RecordedFrames | undefined;
  done: Promise<void> = Promise.resolve();
  /** The credentials that the caller sent along. They are recorded without their secrets. */
  auth: E2AAuth | null = null;
  /** Set while the answer is paused. */
  held: Hold | undefined;
  /** Set where the request is to end with its last reader. */
  readers: Readers | undefined;
  /**
   * Whether no more frames may be given: it started before it was recorded and could not be recorded, or another
   * process answers it, or it is left to the next start.
   */
  isAbandoned = false;
  /** Inserts a frame; set while the request is being answered. */
  insert: ((frame: Partial<E2AResponse>) => Promise<void>) | undefined;
  /** Called when it is over. */
  readonly over: (() => void)[] = [];

  constructor(row: RequestRow, run: Run, { canContinue = false, recorded }: LiveRequestOptions = {}) {
    super();
    this.row = row;
    this.run = run;
    this.canContinue = canContinue;
    this.recorded = recorded;
  }

  get isResumed(): boolean {
    return this.recorded !== undefined;
  }

  get running(): RunningCall {
    return this;
  }

  async emit(frame: Partial<E2AResponse>): Promise<void> {
    if (this.insert === undefined || this.run.answered) throw new Error('the answer is over');
    await this.insert(frame);
  }

  onOver(callback: () => void): void {
    this.over.push(callback);
  }

  /** Ends the run without a final frame; readers get `reason` as an error. */
  abandon(reason: unknown): void {
    this.isAbandoned = true;
    this.run.abandon(reason);
    this.end(new Refused(failure('cancelled')));
  }

  /** Ends the work here, because another process answers the request. Readers continue with `source`. */
  lose(source: FrameSource): void {
    this.isAbandoned = true;
    this.run.follow(source);
    this.end(LOST);
  }

  /** Leaves the request to the next start. */
  leave(): void {
    if (!this.isAbandoned) this.abandon(new Refused(LEFT));
  }

  /** A request that waits for its turn, or whose target can continue, is left to the next start. */
  override interrupt(): void {
    if (this.isWaiting || this.canContinue) this.leave();
    else super.interrupt();
  }
}

interface LiveRequestOptions {
  readonly canContinue?: boolean;
  readonly recorded?: RecordedFrames | undefined;
}

/** A paused answer: its frames wait for `released`. */
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

/** The name of a request in the table of runs. */
export function requestName({ owner, requestId }: RequestKey): string {
  // An agent id has no line break in it.
  return `request\n${owner}\n${requestId}`;
}

/** For readers of a request that is left to the next start. It does not end the answer: the request is recorded. */
const LEFT = failure(
  'busy',
  { retry_after: 5 },
  'The server is stopping. The request is recorded: read its answer later.',
);
