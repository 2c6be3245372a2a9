import { DATA_LIMITS, type Json, parseJson, parseJsonBytes } from '@dragoman/protocols';
import { isJsonType } from '../json/json-type.ts';
import type { ApiAnswer } from './effects.ts';
import { dataError, StepError } from './step-error.ts';

/** The parsed answer, and its text if it is JSON. */
export interface DecodedAnswer {
  readonly value: Json;
  readonly written?: string;
}

/** Decodes the body: JSON is read strictly, other text is kept unchanged, an empty body is null. */
export function decodeAnswer({ bytes, contentType, status }: ApiAnswer): DecodedAnswer {
  if (bytes.length === 0) return { value: null };
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const isJson = isJsonType(type);
  if (isJson || type === '') {
    const text = decoded(bytes);
    const parsed = text === undefined ? parseJsonBytes(bytes) : parseJson(text, DATA_LIMITS);
    if (parsed.ok) return { value: parsed.value, ...(text !== undefined && { written: text }) };
    if (isJson) {
      const [issue] = parsed.issues;
      throw dataError(
        `The API sent the content type ${type}, but its body is invalid: ${issue?.message ?? 'it cannot be read'}`,
        {
          details: { statusCode: status, response: beginning(bytes) },
          suggestions: ['check what the API sends, or request text with an Accept header'],
        },
      );
    }
  }
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(contentType ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  const text = TEXT_TYPES.test(type) && READABLE.has(charset) ? decoded(bytes)?.replace(/^\uFEFF/, '') : undefined;
  if (text !== undefined) return { value: text };
  throw dataError(`The API answered with ${type || 'bytes'} that are neither JSON nor text in UTF-8.`, {
    details: { statusCode: status, contentType },
    suggestions: ['request JSON with an Accept header'],
  });
}

/** The error of an unsuccessful answer (A2E, Error Response Format). */
export function refusedAnswer({ status, bytes, sent }: ApiAnswer): StepError {
  const redirects = status >= 300 && status < 400;
  const message = redirects
    ? `The API answered ${status}, a redirect; redirects are not followed.`
    : `The API answered ${status}.`;
  const { retry_after: seconds } = sent ?? {};
  const later = seconds === undefined ? [] : [waitBeyond(seconds)];
  return new StepError('ExecutionError', message, {
    details: { statusCode: status, ...sent, response: beginning(bytes) },
    suggestions: redirects ? ['call the URL it leads to'] : [...later, adviceFor(status)],
  });
}

function waitBeyond(seconds: number): string {
  return `The API asked to wait ${seconds} s, longer than the execution has left: run it again later, or with a larger timeout_ms`;
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return 'Verify credentials are valid';
  if (status === 404) return 'Check the path of the URL, and the inserted values';
  if (status === 429) return 'Call less often, or wait before the next call';
  return status >= 500 ? 'Check API endpoint availability' : 'Check what the API expects of this request';
}

/** The beginning of a body, for error messages. */
function beginning(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, SHOWN_BYTES));
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

// A byte order mark stays in the text, so that JSON with one is refused by name.
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const SHOWN_BYTES = 2048;
const TEXT_TYPES =
  /^(?:|text\/.*|application\/(?:.*\+)?xml|application\/(?:x-ndjson|jsonl|javascript|x-www-form-urlencoded|yaml))$/;
const READABLE: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);
