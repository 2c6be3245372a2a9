import {
  type E2AEnvelope,
  isObject,
  type Json,
  type JsonObject,
  newEnvelope,
  REDACTED,
  withoutServerSecrets,
} from '@dragoman/protocols';

/**
 * The JSON a sender wrote, as its difference to the recorded envelope. Either `as` or `without` is present: `without`
 * is shorter when the sender wrote most members.
 */
export interface Given {
  /** The members that the sender wrote as the envelope has them. */
  readonly as?: readonly string[];
  /** The fields of an envelope that the sender omitted. */
  readonly without?: readonly string[];
  /** The members that the sender wrote differently. */
  readonly but?: JsonObject;
}

export function givenOf(json: JsonObject, envelope: E2AEnvelope): Given {
  const same: string[] = [];
  const other: [string, Json][] = [];
  for (const name of Object.keys(json)) {
    // Identity suffices: decoding keeps each value that it need not convert.
    if (memberOf(envelope, name) === json[name]) same.push(name);
    else other.push([name, withoutSecretsIn(name, json[name] ?? null)]);
  }
  const but = other.length === 0 ? {} : { but: Object.fromEntries(other) };
  if (same.length < MOST_NAMES) return { as: same, ...but };
  const named = new Set(Object.keys(json));
  return { without: FIELDS.filter((name) => !named.has(name)), ...but };
}

export function givenIn({ as, without, but = {} }: Given, recorded: JsonObject): JsonObject {
  const isNamed =
    without === undefined ? (name: string) => as?.includes(name) : (name: string) => !without.includes(name);
  return { ...Object.fromEntries(Object.entries(recorded).filter(([name]) => isNamed(name))), ...but };
}

function memberOf(envelope: E2AEnvelope, name: string): unknown {
  if (FIELD_NAMES.has(name)) return envelope[name as keyof E2AEnvelope];
  return Object.hasOwn(envelope.extras, name) ? envelope.extras[name] : undefined;
}

/** E2A §13: secrets are not recorded. */
function withoutSecretsIn(name: string, value: Json): Json {
  if (!isObject(value)) return value;
  if (CONTEXT.has(name)) return withoutServerSecrets(value);
  if (name !== 'auth') return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, secret]) => [member, SECRET.has(member) ? REDACTED : secret]),
  );
}

/** `metadata` is the legacy name (E2A §9). */
const CONTEXT: ReadonlySet<string> = new Set(['channel_context', 'metadata']);
const SECRET: ReadonlySet<string> = new Set(['bearer_token', 'extra_headers']);
const { extras: _, ...EMPTY } = newEnvelope();
const FIELDS = Object.keys(EMPTY);
const FIELD_NAMES: ReadonlySet<string> = new Set(FIELDS);
const MOST_NAMES = 16;
