import { FAILURES, type FailureCode } from '../failure.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';

/** What the body of an `e2a.error` frame says beyond its text, whether an agent or this server wrote it. */
export interface ErrorIn {
  /** The failure with the E2A code of the body, the first one if several share the code; `undefined` for other codes. */
  readonly failure: FailureCode | undefined;
  /** `undefined` if neither the body nor the failure says so. */
  readonly retryable: boolean | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;
}

/** Agents write `retryable` and `retry_after` beside the code; this server writes them into `details`. */
export function errorIn(body: JsonObject): ErrorIn {
  const failure = failureOf(body['code']);
  const details = isObject(body['details']) ? body['details'] : {};
  const retryable = [body['retryable'], details['retryable']].find((value) => typeof value === 'boolean');
  const retryAfter = [body['retry_after'], details['retry_after']].find((value) => typeof value === 'number');
  return { failure, retryable: retryable ?? (failure && FAILURES[failure].retryable), retryAfter };
}

function failureOf(code: Json | undefined): FailureCode | undefined {
  return (Object.keys(FAILURES) as FailureCode[]).find((name) => FAILURES[name].e2a === code);
}
