import type { E2AResponse, Json } from '@dragoman/protocols';
import type { StopSignal } from '../ending/ending.ts';
import type { Log } from '../ports/ports.ts';
import type { NewLetter, NonceRow, RequestRow } from '../store/store.ts';
import type { Ask } from './ask.ts';
import type { AskClient } from './ask-client.ts';
import type { CallerTools } from './caller-tools.ts';
import type { Principal } from './principal.ts';

/** The context of one running request. */
export interface Call {
  readonly principal: Principal;
  /** Aborts when the request is cancelled, runs out of time, or the server stops. */
  readonly signal: AbortSignal;
  /** Absent before the call runs. */
  readonly running?: RunningCall | undefined;
  readonly log: Log;
  /** Data of the endpoint for the record. Absent while the call runs. */
  readonly beside?: Beside | undefined;
  /** Reads the answer after this sequence. Default: -1, from the start. */
  readonly after?: number | undefined;
  /** The tools the caller may use, for an agent to use on its behalf. Absent where there are none. */
  readonly tools?: CallerTools | undefined;
  /** Asks a person: `await call.ask({ kind: 'permission', title: 'Delete the folder?' })`. Agents always have it. */
  readonly ask?: Ask | undefined;
  /** Asks the caller's client program, such as an editor for one of its files. Agents always have it. */
  readonly askClient?: AskClient | undefined;
  /**
   * Pauses the time limit of the call, for example while a person answers elsewhere, until the returned function is
   * called. Absent without a limit.
   */
  readonly pause?: (() => () => void) | undefined;
  /** The earlier turns of this conversation, oldest first. Default: the newest fifty. Always present for agents. */
  readonly history?: ((range?: HistoryRange) => Promise<readonly EarlierTurn[]>) | undefined;
}

/** Data that an endpoint records with the envelope. */
export interface Beside {
  /** The caller's `Idempotency-Key`. */
  readonly idempotencyKey?: string | undefined;
  /** If the envelope has no expiry: until when to wait for an agent that is away, in epoch milliseconds. */
  readonly holdUntil?: number | undefined;
  /** The nonce of the signature: marked as used in the commit that records the request. */
  readonly nonce?: NonceRow | undefined;
  /** A delivery beyond the answer, recorded in the same commit. */
  readonly letter?: NewLetter | undefined;
  /** Whether the endpoint has counted the request against the caller's limits already, to report them in its answer. */
  readonly counted?: boolean | undefined;
  /** The received message, recorded with its envelope. */
  readonly received?: Received | undefined;
  /** Called when the request is on disk, with its row; for a repeat, with the row of the first request. */
  readonly onAccepted?: ((row: RequestRow, accepted: { readonly isRepeat: boolean }) => void) | undefined;
}

/** The message as an endpoint received it. */
export interface Received {
  /** The dialect of the endpoint. */
  readonly dialect: string;
  readonly text: string | Uint8Array;
  /** The parsed message, if it is an envelope already. */
  readonly json?: Json;
}

/** The parts of a call that layers add. */
export type Added = Partial<
  Pick<Call, 'running' | 'signal' | 'tools' | 'history' | 'log' | 'ask' | 'askClient' | 'pause'>
>;

/**
 * A call with additions. Nothing is copied, and additions may be getters, so that what most agents never read, such as
 * signals and tools, is not created.
 */
export class ExtendedCall implements Call {
  readonly #call: Call;
  readonly #added: Added;

  constructor(call: Call, added: Added) {
    this.#call = call;
    this.#added = added;
  }

  get principal(): Principal {
    return this.#call.principal;
  }

  get log(): Log {
    return this.#added.log ?? this.#call.log;
  }

  get after(): Call['after'] {
    return this.#call.after;
  }

  get signal(): AbortSignal {
    return this.#added.signal ?? this.#call.signal;
  }

  get running(): Call['running'] {
    return this.#added.running ?? this.#call.running;
  }

  get tools(): Call['tools'] {
    return this.#added.tools ?? this.#call.tools;
  }

  get ask(): Call['ask'] {
    return this.#added.ask ?? this.#call.ask;
  }

  get askClient(): Call['askClient'] {
    return this.#added.askClient ?? this.#call.askClient;
  }

  get pause(): Call['pause'] {
    return this.#added.pause ?? this.#call.pause;
  }

  get history(): Call['history'] {
    return this.#added.history ?? this.#call.history;
  }
}

export interface HistoryRange {
  readonly limit?: number;
  /** Default and maximum: 8 MiB. */
  readonly maxBytes?: number;
}

/** One turn of a conversation. */
export interface EarlierTurn {
  readonly role: 'caller' | 'agent';
  readonly request_id: string;
  readonly timestamp: string;
  readonly content: Json;
}

/** The handles of a running call. Aborts when the call must end. */
export interface RunningCall extends StopSignal {
  /** The record of the request. */
  readonly row: RequestRow;
  /** Whether an earlier process started the call, and may have recorded a part of the answer. */
  readonly isResumed: boolean;
  /** Whether another run answers the request, now or after the next start. */
  readonly isAbandoned: boolean;
  /** Adds a frame between those of the agent. Resolves when it is recorded; rejects when the answer is over. */
  emit(frame: Partial<E2AResponse>): Promise<void>;
  /** Ends the call for this reason; its `signal` then aborts with it. */
  end(reason: Error): void;
  /** Leaves the call to the next start of the server, if its target can continue then. */
  leave(): void;
  /** Calls back when the call is over, however it ended. */
  onOver(callback: () => void): void;
}
