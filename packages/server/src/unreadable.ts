import { type Failure, failure, type Issue } from '@dragoman/protocols';

/** Why a body is no JSON: it may not even be text. */
export function unreadable(issues: readonly Issue[]): Failure {
  return failure(issues[0]?.code === 'not_utf8' ? 'not_utf8' : 'not_json', { issues });
}
