import type { E2AEnvelope } from './e2a/envelope.ts';
import type { E2AResponse } from './e2a/response.ts';
import type { Failure } from './failure.ts';
import type { Json } from './json.ts';
import type { Outcome } from './outcome.ts';

/** One protocol, as pure functions. */
export interface Dialect<Message> {
  readonly name: string;
  /** Cheap, never throws: by shape alone, is this one of ours? A valid message is recognized by exactly one dialect. */
  recognizes(json: Json): boolean;
  decode(json: Json, now: Date, options?: DecodeOptions): Outcome<Message>;
  encode(message: Message): Json;
  /** `undefined`: it concerns the connection, or is itself an answer, and never reaches an agent. */
  toEnvelope(message: Message): E2AEnvelope | undefined;
  /** A request of this dialect that says what the envelope says, or why there is none. Its warnings are what it lost. */
  fromEnvelope(envelope: E2AEnvelope, stamp: Stamp): Outcome<Message>;
  /** Empty when this dialect has no word for the frame, such as a chunk where only whole answers are sent. */
  fromResponse(response: E2AResponse, request: E2AEnvelope): readonly Message[];
  /** `undefined` when the dialect has no message for it and the transport has to answer by itself. */
  fromFailure(failure: Failure, request: E2AEnvelope | undefined, stamp: Stamp): Message | undefined;
}

export interface DecodeOptions {
  /** Take what can be understood (values outside closed sets, unknown fields) and warn, instead of refusing. */
  readonly lenient?: boolean;
}

/** What a new message needs and this package may not make by itself: an id and the time. */
export interface Stamp {
  /** 32 lowercase hex digits, random. */
  readonly id: string;
  readonly now: Date;
}
