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
  /**
   * The frames after a sequence, up to the final one, including those still to come. The signal aborts when the reader
   * leaves.
   */
  read(after: number, signal?: AbortSignal): Reading;
  /** As many recorded frames after a sequence as fit into one page. */
  page(range: PageRange): Promise<readonly FrameRow[]>;
  /** False when the request was not running. */
  cancel(): boolean | Promise<boolean>;
  /**
   * Whether a recorded question is still open, even while no process runs the request. Absent where questions end with
   * their process.
   */
  questionState?(questionId: string): Promise<'open' | 'ended' | undefined>;
}

/** Looks up a request of an owner; `undefined` when there is none. */
export type FindRequest = (key: RequestKey) => Promise<KnownRequest | undefined>;
