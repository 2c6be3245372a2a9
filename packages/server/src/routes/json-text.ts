import type { LongText } from '@dragoman/core';
import type { Answer } from '../http/route.ts';

/** An answer with JSON that is already serialized. */
export function jsonText(text: string | LongText, headers: NonNullable<Answer['headers']> = {}): Answer {
  const answer = { status: 200, headers: { ...headers, 'Content-Type': 'application/json' } };
  return typeof text === 'string' ? { ...answer, text } : { ...answer, longText: text };
}
