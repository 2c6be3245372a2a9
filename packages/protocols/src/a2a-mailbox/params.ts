import { holdsSomething } from '../holds-something.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { pointerTo } from '../pointer.ts';
import { type ContentType, MailboxMessage, PRIORITIES } from './message.ts';
import { fittingContentType, isNone, textIn } from './shorthand.ts';

/** The `params` of an envelope as mailbox fields. */
export interface MailboxParams {
  readonly content: Json | undefined;
  readonly contentType: ContentType | undefined;
  readonly taskType: string | undefined;
  readonly priority: string | undefined;
  readonly expiresAt: string | undefined;
  readonly custom: JsonObject;
  /** Pointers into the envelope to members without an equivalent. */
  readonly lost: readonly string[];
}

/**
 * Reads `params` as `toEnvelope` writes them. Params without `content` become the content, so that nothing is lost: a
 * single text as text, anything else as one JSON object.
 */
export function readParams(params: JsonObject): MailboxParams {
  if (isNone(params.content)) return wholeParams(params);
  const { content, content_type: type, task_type, priority, expires_at, metadata, ...others } = params;
  const custom = isObject(metadata) ? Object.entries(metadata) : [];
  const read = {
    contentType: fittingContentType(type, content),
    taskType: textIn(task_type),
    priority: PRIORITIES.find((known) => known === priority),
    expiresAt: textIn(expires_at),
  };
  const unread: [string, Json | undefined][] = Object.entries(others);
  if (read.contentType === undefined) unread.push(['content_type', type]);
  if (read.taskType === undefined) unread.push(['task_type', task_type]);
  if (read.priority === undefined) unread.push(['priority', priority]);
  if (read.expiresAt === undefined) unread.push(['expires_at', expires_at]);
  if (!isObject(metadata)) unread.push(['metadata', metadata]);
  return {
    ...read,
    content,
    custom: Object.fromEntries(custom.filter(([key]) => !Object.hasOwn(OWN_METADATA, key))),
    lost: [
      ...unread.filter(([, value]) => holdsSomething(value)).map(([key]) => pointerTo('/params', key)),
      ...custom.filter(([key]) => Object.hasOwn(OWN_METADATA, key)).map(([key]) => pointerTo('/params/metadata', key)),
    ],
  };
}

function wholeParams(params: JsonObject): MailboxParams {
  const keys = Object.keys(params);
  const text = keys.length === 1 ? (textIn(params.text) ?? textIn(params.query)) : undefined;
  return {
    content: keys.length === 0 ? undefined : (text ?? params),
    contentType: undefined,
    taskType: undefined,
    priority: undefined,
    expiresAt: undefined,
    custom: {},
    lost: [],
  };
}

const OWN_METADATA = MailboxMessage.properties.metadata.properties;
