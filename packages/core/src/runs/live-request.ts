import { type E2AAuth, type E2AResponse, failure } from '@dragoman/protocols';
import type { RunningCall } from '../call/call.ts';
import { Refused } from '../refusals/refused.ts';
import type { RequestKey, RequestRow } from '../store/store.ts';
import { ActiveRun, LOST } from './active-run.ts';
import type { Readers } from './readers.ts';
import type { FrameSource } from './reading.ts';
import type { RecordedFrames } from './recorded-frames.ts';
import type { Run } from './run.ts';

/** A request while it is being answered, with the handles its call has. */
export class LiveRequest extends ActiveRun implements RunningCall {
  readonly kind = 'request';
  readonly row: RequestRow;
  readonly run: Run;
  /** Its target can give the answer again after a restart. */
  readonly canContinue: boolean;
  /** The frames that an earlier process recorded. */
  readonly recorded: RecordedFrames | undefined;
  done: Promise<void> = Promise.resolve();
  /** What its caller has sent along, which is not recorded as it is. */
  auth: E2AAuth | null = null;
  held: Hold | undefined;
  /** Set where the caller wants it to end with its last reader. */
  readers: Readers | undefined;
  /** It started before it was recorded and could not be recorded, or it is left to the next start. No more frames may be given. */
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

  /** The answer of this run will not be shown to any reader. */
  abandon(reason: unknown): void {
    this.isAbandoned = true;
    this.run.abandon(reason);
    this.end(new Refused(failure('cancelled')));
  }

  /** Another process answers it: the work here is over, and readers continue there. */
  lose(source: FrameSource): void {
    this.isAbandoned = true;
    this.run.follow(source);
    this.end(LOST);
  }

  leave(): void {
    if (!this.isAbandoned) this.abandon(new Refused(LEFT));
  }

  /** One that waits for its turn, or whose target can continue, is left to the next start. */
  override interrupt(): void {
    if (this.isWaiting || this.canContinue) this.leave();
    else super.interrupt();
  }
}

interface LiveRequestOptions {
  readonly canContinue?: boolean;
  readonly recorded?: RecordedFrames | undefined;
}

/** Stays shut until it is released. */
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

/** For readers of a request that is left to the next start. It is recorded, so this is not its end. */
const LEFT = failure(
  'busy',
  { retry_after: 5 },
  'The server is stopping. The request is recorded: read its answer later.',
);
