import type { JsonObject } from '@dragoman/protocols';
import type { EventGiven, WireMessage } from '@dragoman/protocols/a2e-wire';
import { Ending } from '../../ending/ending.ts';
import type { Log } from '../../ports/ports.ts';
import type { WireCall, WireSession } from './plugin.ts';

/** A request from its start to its answer. */
export class WireRequest implements WireCall {
  readonly session: WireSession;
  readonly message: WireMessage;
  readonly requestId: string;
  readonly ending = new Ending();
  readonly log: Log;
  readonly startedAt: number;
  readonly bytes: number;
  readonly #emit: (request: WireRequest, event: EventGiven) => void;
  isAnswered = false;
  /** The answer, as long as it waits for unread events. */
  answer: WrittenAnswer | undefined;

  constructor({ session, message, log, startedAt, bytes, emit }: WireRequestParts) {
    this.session = session;
    this.message = message;
    this.requestId = message.id ?? '';
    this.log = log;
    this.startedAt = startedAt;
    this.bytes = bytes;
    this.#emit = emit;
  }

  get signal(): AbortSignal {
    return this.ending.signal;
  }

  event(event: EventGiven): void {
    if (!this.isAnswered) this.#emit(this, event);
  }
}

/** The answer of a request, and its type. */
export interface WrittenAnswer {
  readonly type: string;
  readonly fields: JsonObject;
  readonly text: string;
}

export interface WireRequestParts {
  readonly session: WireSession;
  readonly message: WireMessage;
  readonly log: Log;
  /** In the clock's elapsed milliseconds; 0 without an audit. */
  readonly startedAt: number;
  /** The size of the request's line. */
  readonly bytes: number;
  readonly emit: (request: WireRequest, event: EventGiven) => void;
}
