import { failure, type Json } from '@dragoman/protocols';
import { Refused } from '../refusals/refused.ts';
import { asText } from '../workflow/template.ts';

/**
 * An argument as a part of a URL that somebody else wrote: one segment or one value, and never a way out of it. `.` and `..`
 * need no escaping and mean another place (RFC 3986 §5.2.4), so they are refused.
 */
export function urlPart(name: string, value: Json): string {
  const text = asText(value);
  if (!DOTS.test(text)) return encodeURIComponent(text);
  const message = `${name} must not be ${JSON.stringify(text)}: in a URL that changes the path`;
  throw new Refused(
    failure('invalid_message', { issues: [{ pointer: `/arguments/${name}`, code: 'pattern', message }] }, message),
  );
}

/** Some take an escaped dot for a dot. */
const DOTS = /^(?:\.|%2e){1,2}$/i;
