import type { Json } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { segmentsOf } from '../pointer.ts';
import { parseTimestamp } from '../time.ts';
import { fittingAgentId } from './agent-id.ts';
import { fittingErrorCode } from './error-code.ts';
import { isMessageId } from './message-id.ts';

/** The suggested fix for common mistakes. */
export function suggestionFor(issue: Issue, value: Json | undefined): string | undefined {
  if (issue.code === 'unknown_field') return OLD_NAMES.get(issue.pointer);
  if (issue.code !== 'pattern' && issue.code !== 'format') return undefined;
  const field = segmentsOf(issue.pointer).at(-1) ?? '';
  const hint = HINTS.get(field);
  return hint === undefined || typeof value !== 'string' || value.length > LONGEST ? undefined : hint(value);
}

type Hint = (value: string) => string | undefined;

const uuid: Hint = (value) => {
  const lower = value.toLowerCase();
  return isMessageId(lower) ? didYouMean(lower) : 'use a version 4 UUID: 8-4-4-4-12 lower-case hex digits';
};

const agentId: Hint = (value) => didYouMean(fittingAgentId(value));

const time: Hint = (value) => {
  const milliseconds = parseTimestamp(value);
  return milliseconds === undefined ? undefined : didYouMean(new Date(milliseconds).toISOString());
};

const HINTS: ReadonlyMap<string, Hint> = new Map<string, Hint>([
  ['message_id', uuid],
  ['correlation_id', uuid],
  ['sender_id', agentId],
  ['recipient_id', agentId],
  ['agent_id', agentId],
  ['timestamp', time],
  ['nonce', () => 'send 16 random bytes as 32 lower-case hex digits'],
  ['code', (value) => didYouMean(fittingErrorCode(value))],
  ['version', () => 'write it as major.minor.patch, such as 1.0.0'],
]);

/** Field names of the older dialect that are too different from the current ones to be taken for misspellings. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map([
  ['/payload/params', 'did you mean parameters?'],
  ['/payload/result', 'did you mean data, with status "success"?'],
]);

function didYouMean(value: string): string {
  return `did you mean ${JSON.stringify(value)}?`;
}

const LONGEST = 256;
