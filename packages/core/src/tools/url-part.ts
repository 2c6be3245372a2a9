import { failure, type Json } from '@dragoman/protocols';
import { Refused } from '../refusals/refused.ts';
import { asText } from '../workflow/template.ts';

/**
 * Encodes an argument as one segment or value of a URL, which it cannot leave. `.` and `..` need no escaping but change
 * the path (RFC 3986 §5.2.4), so they are refused.
 */
export function urlPart(name: string, value: Json): string {
  const text = asText(value);
  if (!DOTS.test(text)) return encodeURIComponent(text);
  const message = `${name} must not be ${JSON.stringify(text)}: in a URL that changes the path`;
  throw new Refused(
    failure('invalid_message', { issues: [{ pointer: `/arguments/${name}`, code: 'pattern', message }] }, message),
  );
}

/** Some parsers read an escaped dot as a dot. */
const DOTS = /^(?:\.|%2e){1,2}$/i;
