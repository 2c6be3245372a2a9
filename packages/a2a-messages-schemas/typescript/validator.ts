import type { Issue, Json } from '@dragoman/protocols';
import { type A2AMessage, a2aMessagesDialect, checkFreshness } from '@dragoman/protocols/a2a-messages';

/** A valid message, or all errors of an invalid one. */
export type Verdict =
  | { readonly valid: true; readonly message: A2AMessage; readonly errors: readonly string[] }
  | { readonly valid: false; readonly errors: readonly string[] };

/**
 * Checks messages by the compiled schemas, and by the rules that a schema cannot express. With a time, a message must
 * also be fresh at that time; without one, a stored message stays valid.
 */
export class SchemaValidator {
  validate(json: Json, now?: Date): Verdict {
    const decoded = a2aMessagesDialect.decode(json, now ?? EPOCH);
    if (!decoded.ok) return { valid: false, errors: decoded.issues.map(errorText) };
    const stale = now === undefined ? [] : checkFreshness(decoded.value, now);
    if (stale.length > 0) return { valid: false, errors: stale.map(errorText) };
    return { valid: true, message: decoded.value, errors: [] };
  }
}

function errorText({ pointer, message }: Issue): string {
  return `${pointer}: ${message}`;
}

/** Any time: the structure of a message does not depend on it. */
const EPOCH = new Date(0);
