import type { Stamp } from '../dialect.ts';
import { oneLineJson } from '../framing/one-line-json.ts';
import type { JsonObject } from '../json.ts';
import { completeFields } from './defaults.ts';
import { WIRE_VERSION } from './message.ts';
import { secondsOf, withFields } from './new-message.ts';

/** A message that is sent as soon as it is made. */
export interface TextGiven {
  readonly type: string;
  /** The fields of its type. */
  readonly fields: JsonObject;
  /** The id of what it answers; of a type that answers nothing there is none. */
  readonly reqId?: string;
}

/**
 * What `withFields` makes, as one line of JSON. The head is the same for every message of a type, so it is written once; the
 * message itself is never put together.
 */
export function messageText({ type, fields, reqId }: TextGiven, stamp: Stamp): string {
  if (hasHeadNames(fields)) {
    const all = reqId === undefined ? fields : { ...fields, req_id: reqId };
    return oneLineJson(withFields(type, all, stamp) as JsonObject);
  }
  const isAnswer = reqId !== undefined;
  const rest = oneLineJson(completeFields(type, fields, { isAnswer }));
  const about = isAnswer ? `,"req_id":${quoted(reqId)}` : '';
  const end = rest === '{}' ? '}' : `,${rest.slice(1)}`;
  return `${headOf(type)}${quoted(stamp.id)},"ts":${secondsOf(stamp)}${about}${end}`;
}

/** Fields that would stand in the text twice. */
function hasHeadNames({ a2e, version, type, id, ts, req_id }: JsonObject): boolean {
  if (a2e !== undefined || version !== undefined || type !== undefined) return true;
  return id !== undefined || ts !== undefined || req_id !== undefined;
}

/** Nearly every id is made of characters that JSON writes as they are. */
function quoted(id: string): string {
  return PLAIN.test(id) ? `"${id}"` : oneLineJson(id);
}

/** Up to where its id stands. */
function headOf(type: string): string {
  const known = heads.get(type);
  if (known !== undefined) return known;
  const head = `{"a2e":"${WIRE_VERSION}","version":"${WIRE_VERSION}","type":${oneLineJson(type)},"id":`;
  if (heads.size < MOST_HEADS) heads.set(type, head);
  return head;
}

const heads = new Map<string, string>();
/** A type may be anybody's invention. */
const MOST_HEADS = 1_000;
const PLAIN = /^[\w.:-]*$/;
