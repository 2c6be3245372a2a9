import { type Failure, failure } from '@dragoman/protocols';

/** An integer in the query of a request, or the failure for an invalid one. */
export function integerIn(
  query: URLSearchParams,
  name: string,
  { from, to, otherwise }: { from: number; to: number; otherwise: number },
): { readonly value: number } | Failure {
  const text = query.get(name);
  if (text === null) return { value: otherwise };
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= from && value <= to) return { value };
  const message = `${name} must be a whole number from ${from} to ${to}; got ${JSON.stringify(text.slice(0, 40))}`;
  const suggestion = value > to ? `ask for ${to} or less` : `leave ${name} out for ${otherwise}`;
  return failure('invalid_message', { issues: [{ pointer: `/${name}`, code: 'type', message, suggestion }] }, message);
}
