import type { Stamp } from '../dialect.ts';
import type { E2AEnvelope } from '../e2a/envelope.ts';
import { FAILURES, type Failure } from '../failure.ts';
import type { Json, JsonObject } from '../json.ts';
import { issueDetails, withFields } from './new-message.ts';
import { requestRowOf } from './request-row.ts';
import type { WireMessage } from './type-map.ts';

/** A failure as an `error` message. `detail` keeps the failure's own code, its issues and the time until a retry. */
export function failureMessage(cause: Failure, request: E2AEnvelope | undefined, stamp: Stamp): WireMessage {
  const fields = {
    req_id: request?.request_id ?? '',
    code: FAILURES[cause.code].wire,
    message: cause.message,
    detail: { ...detailOf(cause), failure: cause.code },
    retryable: cause.retryable,
    capability_name: request === undefined ? '' : (requestRowOf(request).capability ?? ''),
  };
  return withFields('error', fields, stamp);
}

/** The details that are plain JSON. */
function detailOf({ details }: Failure): JsonObject {
  const plain: [string, Json][] = [];
  for (const [name, value] of Object.entries(details)) {
    if (typeof value === 'string' || typeof value === 'boolean') plain.push([name, value]);
    else if (typeof value === 'number' && Number.isFinite(value)) plain.push([name, value]);
  }
  const { issues, suggestions } = details;
  return {
    ...Object.fromEntries(plain),
    ...(issues !== undefined && { issues: issueDetails(issues) }),
    ...(suggestions !== undefined && { suggestions: [...suggestions] }),
  };
}
