import type { E2AEnvelope } from '@dragoman/protocols';
import type { FrameRow, RequestKey } from '../store/store.ts';
import type { PageRange } from './journal-pages.ts';
import type { Reading } from './reading.ts';

/** A recorded request of any protocol, with what every protocol can do with it. */
export interface KnownRequest {
  readonly envelope: E2AEnvelope;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
  /** Whether it had its final frame when it was looked up. */
  readonly isFinished: boolean;
  /** The frames after a sequence, to the final one; follows it while it is being answered. The signal aborts when the reader leaves. */
  read(after: number, signal?: AbortSignal): Reading;
  /** Frames that are recorded after a sequence, as many as fit. */
  page(range: PageRange): Promise<readonly FrameRow[]>;
  /** Ends it. False when it was not running. */
  cancel(): boolean | Promise<boolean>;
  /** Of a question that is recorded, even while no process has it open. Absent where questions end with their process. */
  questionState?(questionId: string): Promise<'open' | 'ended' | undefined>;
}

/** Looks up a request of an owner; `undefined` when there is none. */
export type FindRequest = (key: RequestKey) => Promise<KnownRequest | undefined>;
