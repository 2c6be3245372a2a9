import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '@dragoman/core';
import type { Failure } from '@dragoman/protocols';

/** A request as it came, however it was read off its connection. */
export interface ArrivedRequest {
  readonly method: string;
  readonly target: string;
  readonly httpVersion: string;
  /** By name in lower case. Of a field that came twice both values, with a comma between. */
  readonly headers: IncomingHttpHeaders;
  readonly fieldCount: number;
  /** The address at the other end. */
  readonly peer: string | undefined;
  /** Everything the peer had to say has been heard. */
  readonly isReceived: boolean;
  /** The whole body, a failure as soon as it grows past the limit, or `undefined` when the peer goes before its end. */
  readBody(maxBytes: number): ReadBody | Promise<ReadBody>;
  /**
   * Reads on for a little after the answer has been written, and throws it away. A socket closed with unread bytes is
   * reset, and a reset can overtake the answer: the peer would see a broken connection instead of why it was refused.
   */
  discardBody(limit: DiscardLimit): Promise<void>;
}

export type ReadBody = Uint8Array | Failure | undefined;

export interface DiscardLimit {
  readonly clock: Clock;
  readonly bytes: number;
  readonly ms: number;
}
