import type { EventGiven, WireMessage } from '@dragoman/protocols/a2e-wire';
import type { Log } from '../../ports.ts';
import type { WireCall, WireSession } from './plugin.ts';

/** A request from its start to its answer. */
export class WireRequest implements WireCall {
  readonly session: WireSession;
  readonly message: WireMessage;
  readonly requestId: string;
  readonly log: Log;
  readonly startedAt: number;
  readonly bytes: number;
  readonly #tell: (request: WireRequest, event: EventGiven) => void;
  #abort: AbortController | undefined;
  #reason: Error | undefined;
  isAnswered = false;

  constructor({ session, message, log, startedAt, bytes, tell }: WireRequestParts) {
    this.session = session;
    this.message = message;
    this.requestId = message.id ?? '';
    this.log = log;
    this.startedAt = startedAt;
    this.bytes = bytes;
    this.#tell = tell;
  }

  /** Made when it is first asked for: many a request is answered at once. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#reason !== undefined) this.#abort.abort(this.#reason);
    return this.#abort.signal;
  }

  event(event: EventGiven): void {
    if (!this.isAnswered) this.#tell(this, event);
  }

  end(reason: Error): void {
    this.#reason ??= reason;
    this.#abort?.abort(this.#reason);
  }
}

export interface WireRequestParts {
  readonly session: WireSession;
  readonly message: WireMessage;
  readonly log: Log;
  /** Milliseconds that only ever grow. */
  readonly startedAt: number;
  /** Of the line it came in. */
  readonly bytes: number;
  readonly tell: (request: WireRequest, event: EventGiven) => void;
}
