import { type Failure, failure, type Issue } from '@dragoman/protocols';

/**
 * The failure for received bytes that are not JSON, not text, or not a whole line. `message` replaces the usual one.
 */
export function unreadable(issues: readonly Issue[], message?: string): Failure {
  const code = issues[0]?.code;
  const isKnown = code === 'not_utf8' || code === 'line_too_long' || code === 'busy';
  return failure(isKnown ? code : 'not_json', { issues }, message);
}
