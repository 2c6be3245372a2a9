import type { Json } from '../json.ts';
import { oneLineJson } from './one-line-json.ts';

export interface SseEvent {
  /** The id that a client sends back as `Last-Event-ID`: a sequence number. */
  readonly id?: number;
  /** A fixed name from our code, never one from an agent. */
  readonly event?: string;
  readonly data: Json;
}

/**
 * One event of a `text/event-stream` (WHATWG HTML, Server-sent events). A line break in any field would let a payload
 * write events of its own, so the data is JSON on one line, the id a number and the name a plain word.
 */
export function sseEvent({ id, event, data }: SseEvent): string {
  let text = '';
  if (id !== undefined) text += `id: ${wholeNumber('id', id)}\n`;
  if (event !== undefined) text += `event: ${eventName(event)}\n`;
  return `${text}data: ${oneLineJson(data)}\n\n`;
}

/** A comment, which clients ignore. It keeps proxies from closing a silent stream. */
export function sseComment(text = ''): string {
  if (/[\r\n]/.test(text)) throw new Error('a comment is one line');
  return `:${text === '' ? '' : ` ${text}`}\n\n`;
}

/** Tells a client how long to wait before it connects again. */
export function sseRetry(milliseconds: number): string {
  return `retry: ${wholeNumber('retry', milliseconds)}\n\n`;
}

function wholeNumber(field: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${field} is a whole number, not ${value}`);
  return value;
}

function eventName(name: string): string {
  if (!/^[a-z0-9-]+$/.test(name)) throw new Error(`an event name has a-z, 0-9 and -, not ${JSON.stringify(name)}`);
  return name;
}
