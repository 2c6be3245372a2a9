import { type Failure, failure, type Json, type JsonObject } from '@dragoman/protocols';
import { capabilityOf, failureMessage, newError, slipsIn, type WireMessage } from '@dragoman/protocols/a2e-wire';
import type { Log } from '../../ports/ports.ts';
import { failureOf } from '../../refusals/refused.ts';
import { wireRefusalOf } from './wire-refused.ts';
import type { WireRequest } from './wire-request.ts';

/** The answer to a failed request. The text of an unexpected error only goes to the log. */
export function requestError(
  { requestId, message }: WireRequest,
  error: unknown,
  { log, stamp }: { readonly log: Log; readonly stamp: { readonly id: string; readonly now: Date } },
): WireMessage & JsonObject {
  const refused = wireRefusalOf(error);
  if (refused !== undefined) {
    const { code, message: text, detail } = refused;
    return newError({ code, reqId: requestId, message: text, detail, about: message.type }, stamp) as WireMessage &
      JsonObject;
  }
  const expected = failureOf(error);
  if (expected === undefined) log.error({ type: message.type, error: String(error) }, 'a request failed');
  const known = expected ?? failure('internal');
  return {
    ...failureMessage(known.fault === 'sender' ? withSlips(known, message) : known, undefined, stamp),
    req_id: requestId,
    capability_name: capabilityOf(message.type),
  } as WireMessage & JsonObject;
}

/** Adds the likely mistakes in the fields of a failed request, which the decoder tolerates. */
function withSlips(known: Failure, message: WireMessage): Failure {
  const slips = slipsIn(message);
  if (slips.length === 0) return known;
  const meant = slips.map(({ member, field }) => `did you mean ${field} for ${member}?`);
  return { ...known, details: { ...known.details, suggestions: [...(known.details.suggestions ?? []), ...meant] } };
}

/** Finds the error that ends a request among messages. */
export function wireErrorAbout(id: Json | undefined, send: readonly WireMessage[]): JsonObject | undefined {
  return send.find((message) => message.type === 'error' && message['req_id'] === id) as JsonObject | undefined;
}
