import type { DecodeOptions } from '../dialect.ts';
import { type Json, parseJsonBytes } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { segmentsOf } from '../pointer.ts';
import { decodeMessage } from './decode.ts';
import { checkFreshness } from './freshness.ts';

/** One line of the spec's validation checklist, with what was found. `skipped`: an earlier line failed. */
export interface ChecklistRow {
  readonly name: ChecklistName;
  readonly verdict: 'pass' | 'fail' | 'skipped';
  readonly issues: readonly Issue[];
}

/**
 * The spec's Validation Checklist, line by line, on a message as received, to show which rule a message
 * breaks. A server needs only the parts: a size cap, `parseJsonBytes`, `decode`, `checkFreshness`.
 */
export function checklist(bytes: Uint8Array, now: Date, options: DecodeOptions = {}): readonly ChecklistRow[] {
  if (bytes.length > MAX_MESSAGE_BYTES) return rows([tooLarge(bytes.length)], 'size_limit');
  const parsed = parseJsonBytes(bytes);
  if (!parsed.ok) return rows(parsed.issues, 'valid_json');
  return rows(problemsIn(parsed.value, now, options));
}

function problemsIn(json: Json, now: Date, options: DecodeOptions): readonly Issue[] {
  const decoded = decodeMessage(json, options);
  return decoded.ok ? checkFreshness(decoded.value, now) : decoded.issues;
}

/**
 * Assigns each issue to its line. `only` is the line that failed before the others could be checked: they are skipped,
 * except the size.
 */
function rows(issues: readonly Issue[], only?: ChecklistName): ChecklistRow[] {
  const structural = issues.some((issue) => lineOf(issue) !== 'timestamp_fresh');
  return CHECKLIST.map((name) => {
    const own = issues.filter((issue) => (only ?? lineOf(issue)) === name);
    if (own.length > 0) return { name, verdict: 'fail', issues: own };
    const looked = only === undefined ? !(name === 'timestamp_fresh' && structural) : name === 'size_limit';
    return { name, verdict: looked ? 'pass' : 'skipped', issues: own };
  });
}

/** The line of the checklist for a problem. */
function lineOf({ pointer, code }: Issue): ChecklistName {
  if (code === 'stale' || code === 'from_the_future' || code === 'times_apart') return 'timestamp_fresh';
  if (code === 'unknown_field' || code === 'forbidden_key') return 'no_unexpected_fields';
  const [field, ...deeper] = segmentsOf(pointer);
  if (field === undefined) return 'valid_json';
  if (code === 'required' && deeper.length === 0)
    return field === 'correlation_id' ? 'correlation_id' : 'required_fields';
  return FIELD_LINES.get(field) ?? 'payload_matches_type';
}

function tooLarge(size: number): Issue {
  const message = `the message must have at most ${MAX_MESSAGE_BYTES} bytes; got ${size}`;
  return { pointer: '', code: 'too_large', message };
}

/** The spec's twelve lines, in its order, and the authentication tag, which it leaves out. */
export const CHECKLIST = [
  'valid_json',
  'required_fields',
  'message_id',
  'message_type',
  'timestamp_format',
  'timestamp_fresh',
  'sender_id',
  'recipient_id',
  'payload_matches_type',
  'correlation_id',
  'no_unexpected_fields',
  'size_limit',
  'authentication',
] as const;
export type ChecklistName = (typeof CHECKLIST)[number];

const FIELD_LINES: ReadonlyMap<string, ChecklistName> = new Map<string, ChecklistName>([
  ['message_id', 'message_id'],
  ['message_type', 'message_type'],
  ['timestamp', 'timestamp_format'],
  ['sender_id', 'sender_id'],
  ['recipient_id', 'recipient_id'],
  ['payload', 'payload_matches_type'],
  ['correlation_id', 'correlation_id'],
  ['auth', 'authentication'],
]);

/** The spec's 10 MB, measured on the whole message, before it is parsed. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
