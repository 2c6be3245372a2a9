import type { Stamp } from '../dialect.ts';
import { oneLineJson, quotedText } from '../framing/one-line-json.ts';
import type { JsonObject } from '../json.ts';
import { completeFields } from './defaults.ts';
import { fieldsText } from './fields-text.ts';
import { WIRE_VERSION } from './message.ts';
import { secondsOf, withFields } from './new-message.ts';

/** The parts of a message that is written directly as text. */
export interface TextGiven {
  readonly type: string;
  /** The fields of its type. */
  readonly fields: JsonObject;
  /** The id of the request that the message answers; undefined for types that are not answers. */
  readonly reqId?: string;
}

/**
 * The result of `withFields` as one line of JSON, written without building the message.
 * The head is the same for every message of a type and is computed once.
 */
export function messageText({ type, fields, reqId }: TextGiven, stamp: Stamp): string {
  const isAnswer = reqId !== undefined;
  let rest = fieldsText(type, fields, { isAnswer });
  if (rest === undefined) {
    if (hasHeadNames(fields)) {
      const all = isAnswer ? { ...fields, req_id: reqId } : fields;
      return oneLineJson(withFields(type, all, stamp) as JsonObject);
    }
    const members = oneLineJson(completeFields(type, fields, { isAnswer })).slice(1, -1);
    rest = members === '' ? '' : `,${members}`;
  }
  const about = isAnswer ? `,"req_id":${quotedText(reqId)}` : '';
  return `${headOf(type)}${quotedText(stamp.id)},"ts":${secondsOf(stamp)}${about}${rest}}`;
}

/** Whether the fields have a name that would appear twice in the text. */
function hasHeadNames({ a2e, version, type, id, ts, req_id }: JsonObject): boolean {
  if (a2e !== undefined || version !== undefined || type !== undefined) return true;
  return id !== undefined || ts !== undefined || req_id !== undefined;
}

/** The text of a message up to the value of its `id`. */
function headOf(type: string): string {
  const known = heads.get(type);
  if (known !== undefined) return known;
  const head = `{"a2e":"${WIRE_VERSION}","version":"${WIRE_VERSION}","type":${oneLineJson(type)},"id":`;
  if (heads.size < MOST_HEADS) heads.set(type, head);
  return head;
}

const heads = new Map<string, string>();
/** The limit of `heads`, because plugins may define any number of types. */
const MOST_HEADS = 1_000;
