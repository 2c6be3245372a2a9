import { type Failure, failure, type Issue } from '@dragoman/protocols';

/** Why what came is no JSON: it may not even be text, or no whole line. In the words of the code, or in those given. */
export function unreadable(issues: readonly Issue[], message?: string): Failure {
  const code = issues[0]?.code;
  const isKnown = code === 'not_utf8' || code === 'line_too_long' || code === 'busy';
  return failure(isKnown ? code : 'not_json', { issues }, message);
}
