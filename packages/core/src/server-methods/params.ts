import { type E2AEnvelope, show } from '@dragoman/protocols';
import { idFault } from '../refusals/id-fault.ts';
import { refuse } from '../refusals/refused.ts';

/** The session of a method: in its params, or in the envelope. */
export function sessionParam(envelope: E2AEnvelope): string | undefined {
  for (const name of ['session_id', 'sessionId']) {
    const id = textParam(envelope, name);
    const fault = id === undefined ? undefined : idFault(id);
    if (fault !== undefined) refuseParam(name, fault);
    if (id !== undefined) return id;
  }
  return envelope.session_id ?? undefined;
}

export function textParam(envelope: E2AEnvelope, name: string): string | undefined {
  const value = envelope.params[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value === '') wrong(name, 'a non-empty string', value);
  // Not every database can store NUL.
  if (value.includes('\0')) refuseParam(name, 'must not contain a NUL');
  return value;
}

export function integerParam(
  envelope: E2AEnvelope,
  name: string,
  { from, otherwise }: { from: number; otherwise: number },
): number {
  const value = envelope.params[name];
  if (value === undefined || value === null) return otherwise;
  return Number.isSafeInteger(value) && Number(value) >= from
    ? Number(value)
    : wrong(name, `an integer from ${from}`, value);
}

export function booleanParam(
  envelope: E2AEnvelope,
  name: string,
  { otherwise }: { readonly otherwise: boolean },
): boolean {
  const value = envelope.params[name];
  if (value === undefined || value === null) return otherwise;
  return typeof value === 'boolean' ? value : wrong(name, 'true or false', value);
}

export function choiceParam<Choice extends string>(
  envelope: E2AEnvelope,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = envelope.params[name];
  if (value === undefined || value === null) return undefined;
  return choices.find((choice) => choice === value) ?? wrong(name, `one of ${choices.join(', ')}`, value);
}

function wrong(name: string, expected: string, value: unknown): never {
  refuseParam(name, `must be ${expected}; got ${show(value)}`);
}

function refuseParam(name: string, fault: string): never {
  const message = `params.${name} ${fault}`;
  refuse('invalid_message', { issues: [{ pointer: `/params/${name}`, code: 'type', message }] }, message);
}
