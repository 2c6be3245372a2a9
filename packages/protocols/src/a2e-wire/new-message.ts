import type { Stamp } from '../dialect.ts';
import type { JsonObject } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { completeMessage } from './defaults.ts';
import { isWireErrorCode, WIRE_ERRORS, type WireErrorCode } from './errors.ts';
import { LATEST_TS, WIRE_VERSION } from './message.ts';
import { type FieldsOf, lookup, type MessageOf, type WireMessage, type WireType } from './type-map.ts';

/** A new message with stamps, an id, the time and every field of its type. */
export function newMessage<const Type extends WireType>(
  type: Type,
  fields: FieldsOf<Type>,
  stamp: Stamp,
): MessageOf<Type> & WireMessage {
  return withFields(type, fields as unknown as JsonObject, stamp) as unknown as MessageOf<Type> & WireMessage;
}

/** `newMessage` for a type that is known only at run time. */
export function withFields(type: string, fields: JsonObject, stamp: Stamp): WireMessage {
  const base = { a2e: WIRE_VERSION, version: WIRE_VERSION, type, id: stamp.id, ts: secondsOf(stamp) } as const;
  return completeMessage(type, { ...fields, ...base });
}

/** The time in seconds, within the valid range: a wrong clock must not make the message invalid. */
export function secondsOf({ now }: Stamp): number {
  return Math.min(Math.max(now.getTime() / 1000, 0), LATEST_TS);
}

export interface ErrorGiven {
  /** A code of the protocol or of a plugin. */
  readonly code: WireErrorCode | (string & {});
  /** The id of the request that failed; empty if it is unknown, or if the request continues. */
  readonly reqId: string;
  readonly message: string;
  readonly issues?: readonly Issue[];
  readonly detail?: JsonObject;
  /** The type of the message that caused the error; it determines `capability_name`. */
  readonly about?: string | undefined;
}

export function newError(
  { code, reqId, message, issues = [], detail = {}, about }: ErrorGiven,
  stamp: Stamp,
): WireMessage {
  const fields = {
    req_id: reqId,
    code,
    message,
    detail: issues.length === 0 ? detail : { ...detail, issues: issueDetails(issues) },
    retryable: isWireErrorCode(code) && WIRE_ERRORS[code].retryable,
    capability_name: capabilityOf(about),
  };
  return withFields('error', fields, stamp);
}

export function capabilityOf(type: string | undefined): string {
  return (type === undefined ? undefined : lookup(type)?.capability) ?? '';
}

/** Issues as data for a peer. Only the first ones, so that an answer is not larger than the request. */
export function issueDetails(issues: readonly Issue[]): JsonObject[] {
  return issues.slice(0, MOST_ISSUES).map(({ pointer, code, message, suggestion }) => ({
    pointer,
    code,
    message,
    ...(suggestion !== undefined && { suggestion }),
  }));
}

const MOST_ISSUES = 20;
