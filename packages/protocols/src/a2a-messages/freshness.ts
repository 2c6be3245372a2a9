import type { Issue } from '../outcome.ts';
import { parseTimestamp } from '../time.ts';
import { show } from '../validation.ts';
import type { BaseMessage } from './message.ts';

/** How far a message's times may be from ours, in milliseconds. */
export interface FreshnessWindow {
  readonly past: number;
  readonly future: number;
  /** Between `timestamp` and `auth.timestamp`. */
  readonly apart: number;
}

/**
 * Whether a message is fresh: its time and the time of its signature are inside the window and close together.
 * Separate from `decode`, so that old stored messages stay readable.
 */
export function checkFreshness(
  message: Pick<BaseMessage, 'timestamp' | 'auth'>,
  now: Date,
  window: FreshnessWindow = FRESHNESS_WINDOW,
): Issue[] {
  const issues: Issue[] = [];
  const sent = judge('/timestamp', message.timestamp, { now, window, issues });
  if (message.auth === undefined) return issues;
  const signed = judge('/auth/timestamp', message.auth.timestamp, { now, window, issues });
  if (sent === undefined || signed === undefined) return issues;
  const apart = Math.abs(sent - signed);
  if (apart > window.apart) {
    issues.push({
      pointer: '/auth/timestamp',
      code: 'times_apart',
      message: `auth.timestamp must be within ${seconds(window.apart)} of timestamp; they are ${seconds(apart)} apart`,
      suggestion: 'sign the message when it is sent',
    });
  }
  return issues;
}

interface Judgement {
  readonly now: Date;
  readonly window: FreshnessWindow;
  readonly issues: Issue[];
}

/** The time in epoch milliseconds; problems are added to `issues`. */
function judge(pointer: string, text: string, { now, window, issues }: Judgement): number | undefined {
  const name = pointer.slice(1).replace('/', '.');
  const time = parseTimestamp(text);
  if (time === undefined) {
    issues.push({ pointer, code: 'format', message: `${name} must be an RFC 3339 time; got ${show(text)}` });
    return undefined;
  }
  const age = now.getTime() - time;
  if (age > window.past) {
    const message = `${name} must be at most ${seconds(window.past)} old; it is ${seconds(age)} old`;
    issues.push({ pointer, code: 'stale', message, suggestion: 'send it again with the current time' });
  } else if (-age > window.future) {
    const message = `${name} must be at most ${seconds(window.future)} ahead; it is ${seconds(-age)} ahead`;
    issues.push({ pointer, code: 'from_the_future', message, suggestion: "check the sender's clock" });
  }
  return time;
}

function seconds(milliseconds: number): string {
  return `${milliseconds / 1000} s`;
}

/** The spec's five minutes back and one minute ahead; five seconds between sending and signing. */
export const FRESHNESS_WINDOW: FreshnessWindow = { past: 300_000, future: 60_000, apart: 5_000 };
