import { type E2AResponse, failure } from '@dragoman/protocols';
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
  /** What an earlier process recorded of the answer. */
  readonly recorded: RecordedFrames | undefined;
  done: Promise<void> = Promise.resolve();
  held: Hold | undefined;
  /** Where the caller wants it to end with the last of them. */
  readers: Readers | undefined;
  /** It was begun before it was recorded, and cannot be; or it is left to the next start. Nothing more is to be given. */
  isAbandoned = false;
  /** Gives a frame in between; set while it is being answered. */
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

  async tell(frame: Partial<E2AResponse>): Promise<void> {
    if (this.insert === undefined || this.run.answered) throw new Error('the answer is over');
    await this.insert(frame);
  }

  onOver(callback: () => void): void {
    this.over.push(callback);
  }

  /** Nobody will see the answer under this run. */
  abandon(reason: unknown): void {
    this.isAbandoned = true;
    this.run.abandon(reason);
    this.end(new Refused(failure('cancelled')));
  }

  /** Another process answers it: what is done here is over, and readers go on there. */
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
  'The server is stopping. The request is recorded: come back for its answer.',
);
