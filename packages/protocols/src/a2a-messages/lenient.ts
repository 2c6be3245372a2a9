import { edited } from '../edit.ts';
import type { Json } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { segmentsOf, valueAt } from '../pointer.ts';
import { parseTimestamp } from '../time.ts';
import { show } from '../validation.ts';
import { explainMessage } from './explain.ts';
import { readLegacy } from './legacy.ts';

/** The message in the spec's form, as far as it can be understood, with a warning for each change. */
export interface Tolerated {
  readonly json: Json;
  readonly warnings: readonly Issue[];
}

/**
 * Converts a message that a strict reader refuses: the older dialect, unknown fields, times with other decimals, words
 * outside closed sets. The result differs from the signed bytes, so the signature of a changed message does not verify.
 */
export function tolerate(json: Json): Tolerated {
  const legacy = readLegacy(json);
  const edits = new Map<string, Json | undefined>();
  const warnings = [...legacy.warnings];
  for (const issue of explainMessage(legacy.json)) {
    const tolerance = TOLERANCES[issue.code]?.(issue, legacy.json);
    if (tolerance === undefined || edits.has(issue.pointer)) continue;
    edits.set(issue.pointer, tolerance.value);
    warnings.push(tolerance.warning);
  }
  return { json: edited(legacy.json, edits), warnings };
}

interface Tolerance {
  readonly value: Json | undefined;
  readonly warning: Issue;
}

/** The correction for each problem code; all other problems stay. */
const TOLERANCES: Readonly<Record<string, (issue: Issue, json: Json) => Tolerance | undefined>> = {
  unknown_field: (issue) => ({ value: undefined, warning: { ...issue, message: `${issue.message}; it is left out` } }),
  pattern: utcTime,
  format: utcTime,
  enum: knownWord,
};

function utcTime({ pointer }: Issue, json: Json): Tolerance | undefined {
  const text = valueAt(json, pointer);
  if (!TIME_FIELDS.has(segmentsOf(pointer).at(-1) ?? '') || typeof text !== 'string') return undefined;
  const value = readTime(text);
  return value === undefined ? undefined : { value, warning: coerced(pointer, text, value) };
}

/** The nearest spelling of a time the spec allows. A time without a zone is UTC, as in the older dialect. */
function readTime(text: string): string | undefined {
  const decimals = /\.(\d*)/.exec(text)?.[1] ?? '';
  if (decimals.length > MOST_DECIMALS) return undefined;
  const time = parseTimestamp(text) ?? parseTimestamp(`${text}Z`);
  return time === undefined ? undefined : new Date(time).toISOString();
}

function knownWord({ pointer }: Issue, json: Json): Tolerance | undefined {
  const word = valueAt(json, pointer);
  if (typeof word !== 'string') return undefined;
  if (pointer === '/payload/status') return responseStatus(pointer, word, json);
  if (pointer === '/payload/filters/status') {
    const message = `filters.status ${show(word)} is unknown; it is left out, so that healthy agents are listed`;
    return { value: undefined, warning: { pointer, code: 'coerced', message } };
  }
  // An agent in an unknown state is not known to be healthy.
  if (AGENT_STATUS.test(pointer)) return { value: 'unhealthy', warning: coerced(pointer, word, 'unhealthy') };
  return undefined;
}

/**
 * Derives the status of a response with an unknown status: from its result or its error, if it has exactly one of them.
 */
function responseStatus(pointer: string, word: string, json: Json): Tolerance | undefined {
  const hasData = valueAt(json, '/payload/data') !== undefined;
  const hasError = valueAt(json, '/payload/error') !== undefined;
  if (hasData === hasError) return undefined;
  const value = hasData ? 'success' : 'error';
  return { value, warning: coerced(pointer, word, value) };
}

function coerced(pointer: string, from: Json, to: Json): Issue {
  const name = segmentsOf(pointer).at(-1) ?? 'the message';
  return { pointer, code: 'coerced', message: `${name} ${show(from)} is read as ${show(to)}` };
}

const TIME_FIELDS: ReadonlySet<string> = new Set(['timestamp', 'last_heartbeat']);
const AGENT_STATUS = /^\/payload\/agents\/\d+\/status$/;
const MOST_DECIMALS = 9;
