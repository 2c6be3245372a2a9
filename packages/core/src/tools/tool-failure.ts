import { failure, REDACTED, redacted } from '@dragoman/protocols';
import type { LogFields } from '../ports/ports.ts';
import { failureOf, Refused } from '../refusals/refused.ts';
import { cutTo } from '../text/cut-to.ts';
import { WireRefused } from './wire/wire-refused.ts';

/**
 * A tool's error as callers receive it: with its message, without its stack. Of its cause only the code is added, as in
 * `fetch failed (ECONNREFUSED)`, because messages of causes often name hosts, ports and files.
 */
export function toolFailure(error: unknown): Error {
  if (error instanceof WireRefused) return error;
  const known = failureOf(error);
  if (known !== undefined) return new Refused(known);
  const words = cutTo(wordsOf(error) || 'The tool failed.', LONGEST_MESSAGE);
  const code = codeOf(error);
  const cause = codeOf(causeOf(error));
  const message = cause === undefined || words.includes(cause) ? words : `${words} (${cause})`;
  return new Refused(failure('tool_failed', code === undefined ? {} : { tool_code: code }, message));
}

/**
 * The log fields of a tool's error: its stack, the first frame in the tool's code, and all causes. `undefined` for
 * refusals.
 */
export function traceOf(error: unknown): LogFields | undefined {
  if (error instanceof WireRefused || failureOf(error) !== undefined) return undefined;
  const causes: string[] = [];
  for (let cause = causeOf(error); cause !== undefined && causes.length < MOST_CAUSES; cause = causeOf(cause)) {
    causes.push(wordsOf(cause) || (codeOf(cause) ?? 'unknown'));
  }
  const { stack } = Object(error) as { stack?: unknown };
  const frames = typeof stack === 'string' ? stack.slice(Math.max(0, stack.search(/^\s+at /m))) : '';
  const place = frames.split('\n').find((frame) => /^\s+at /.test(frame) && !FOREIGN.test(frame));
  return {
    error: safe(wordsOf(error)),
    ...(place !== undefined && { at: safe(place).replace(/^\s+at /, '') }),
    ...(frames !== '' && { stack: safe(frames) }),
    ...(causes.length > 0 && { cause: safe(causes.join('; ')) }),
  };
}

function wordsOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  const text = typeof error === 'string' ? error : message;
  return typeof text === 'string' ? text : '';
}

function codeOf(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === 'string' && /^[A-Za-z][A-Za-z0-9_.-]{0,79}$/.test(code) ? code : undefined;
}

function causeOf(error: unknown): unknown {
  return (Object(error) as { cause?: unknown }).cause ?? undefined;
}

/**
 * Removes credentials, which errors of libraries repeat, and shortens the text. It is shortened last, so that no
 * credential is cut and missed.
 */
function safe(text: string): string {
  const bearerless = String(redacted(cutTo(text, 2 * LONGEST_MESSAGE)));
  return cutTo(bearerless.replaceAll(USER_OF_URL, `://${REDACTED}@`), LONGEST_MESSAGE);
}

export const LONGEST_MESSAGE = 2000;
const MOST_CAUSES = 4;
/** Frames that are not the tool's own code. */
const FOREIGN = /node:|[\\/]node_modules[\\/]|<anonymous>/;
const USER_OF_URL = /:\/\/[^\s/@]+@/g;
