import type { JsonObject } from '@dragoman/protocols';
import type { WireMessage, WireType } from '@dragoman/protocols/a2e-wire';
import type { RequestOptions } from './wire-client.ts';
import type { WireLink } from './wire-transport.ts';

/** A request to be sent, and how to read its answer. */
export interface WaitingRequest<Answer> {
  readonly type: WireType;
  readonly fields: JsonObject;
  readonly options: RequestOptions;
  readonly read: (message: WireMessage) => Answer;
}

/** A request that was sent and not answered yet. */
export interface Waiting {
  readonly link: WireLink;
  readonly type: WireType;
  readonly timeoutMs: number;
  /** Milliseconds since 1970. */
  readonly dueAt: number;
  answer(message: WireMessage): void;
  reject(error: unknown): void;
  readonly onEvent: ((event: WireMessage) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onAbort: (() => void) | undefined;
}
