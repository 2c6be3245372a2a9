import type { E2AEnvelope } from './e2a/envelope.ts';
import type { E2AResponse } from './e2a/response.ts';
import type { Failure } from './failure.ts';
import type { Json } from './json.ts';
import type { Outcome } from './outcome.ts';

/** One protocol, as pure functions. */
export interface Dialect<Message> {
  readonly name: string;
  /** Whether the shape is that of this dialect; never throws. A valid message is recognized by exactly one dialect. */
  recognizes(json: Json): boolean;
  decode(json: Json, now: Date, options?: DecodeOptions): Outcome<Message>;
  encode(message: Message): Json;
  /** `undefined` for a message that concerns the connection or is itself an answer: it never reaches an agent. */
  toEnvelope(message: Message): E2AEnvelope | undefined;
  /** The envelope as a request of this dialect, or why that is not possible. Its warnings are the losses. */
  fromEnvelope(envelope: E2AEnvelope, stamp: Stamp): Outcome<Message>;
  /** Empty if this dialect has no message for the frame, such as a chunk where only whole answers are sent. */
  fromResponse(response: E2AResponse, request: E2AEnvelope): readonly Message[];
  /** `undefined` if the dialect has no message for the failure; then the transport must answer by itself. */
  fromFailure(failure: Failure, request: E2AEnvelope | undefined, stamp: Stamp): Message | undefined;
}

export interface DecodeOptions {
  /** Accept values outside closed sets and unknown fields with a warning, instead of refusing them. */
  readonly lenient?: boolean;
}

/** The id and the time of a new message, which this pure package cannot create. */
export interface Stamp {
  /** 32 lowercase hex digits, random. */
  readonly id: string;
  readonly now: Date;
}
