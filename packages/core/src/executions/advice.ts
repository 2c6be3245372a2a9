import type { Failure } from '@dragoman/protocols';

/** Suggests what to do about a call that got no answer, when the failure itself suggests nothing. */
export function advised(known: Failure): Failure {
  const suggestions = ADVICE.get(known.code);
  if (known.details.suggestions !== undefined || suggestions === undefined) return known;
  return { ...known, details: { ...known.details, suggestions } };
}

const ADVICE: ReadonlyMap<string, readonly string[]> = new Map<Failure['code'], readonly string[]>([
  ['unreachable', ['Check the host of the URL', 'Check API endpoint availability']],
  ['agent_failed', ['Check API endpoint availability']],
  ['timeout', ['give the ApiCall a longer timeout', 'Check API endpoint availability']],
]);
