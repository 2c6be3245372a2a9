import { type Failure, failure, type Issue } from '@dragoman/protocols';

/** Why the bytes received are not JSON: they may not even be text or a whole line. In the code's words, or those given. */
export function unreadable(issues: readonly Issue[], message?: string): Failure {
  const code = issues[0]?.code;
  const isKnown = code === 'not_utf8' || code === 'line_too_long' || code === 'busy';
  return failure(isKnown ? code : 'not_json', { issues }, message);
}
