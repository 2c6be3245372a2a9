import { type E2AEnvelope, isObject, type Json, REDACTED } from '@dragoman/protocols';
import type { Call } from '../call.ts';
import { allows, type Principal } from '../principal.ts';

/** What a door got, before anything was made of it. */
export interface Received {
  /** The dialect the door speaks. */
  readonly dialect: string;
  readonly text: string | Uint8Array;
}

/** How a request came in, for whoever asks later what happened to it. */
export interface Arrival {
  /** The key it came with; null for a signature, or for a sender without either. */
  readonly keyId: string | null;
  /** The entries of the caller's permissions that let it in, such as `agents:*`. */
  readonly rules: readonly string[];
  /** The dialect of the door; null where no door told. */
  readonly dialect: string | null;
  /** Bytes or characters that came. */
  readonly size: number;
  /** What came, without the secrets of `auth`; null where it is not kept. */
  readonly text: string | null;
}

/**
 * The arrival as one text: its facts in the first line, what came behind it as it came. It is written with every request, so
 * nothing is computed here that can be computed when somebody asks.
 */
export function arrivalText(envelope: E2AEnvelope, { principal, received }: Call, agentId: string): string {
  const size = received?.text.length ?? 0;
  const kept = received !== undefined && size <= MOST_KEPT;
  const facts = [
    principal.keyId ?? null,
    rulesFor(principal, envelope, agentId),
    received?.dialect ?? null,
    size,
    kept,
  ] satisfies Facts;
  return kept ? `${JSON.stringify(facts)}\n${withoutSecretsIn(received.text, envelope)}` : JSON.stringify(facts);
}

export function readArrival(text: string): Arrival {
  const end = text.indexOf('\n');
  const [keyId, rules, dialect, size, kept] = JSON.parse(end === -1 ? text : text.slice(0, end)) as Facts;
  return { keyId, rules, dialect, size, text: kept ? text.slice(end + 1) : null };
}

type Facts = [keyId: string | null, rules: string[], dialect: string | null, size: number, kept: boolean];

/** The entry of each list that names what was asked: the wider one where there are two. */
function rulesFor({ permissions }: Principal, { identity_origin: origin }: E2AEnvelope, agentId: string): string[] {
  const rules = allows(permissions.agents, agentId) ? [`agents:${entryFor(permissions.agents, agentId)}`] : [];
  if (origin !== 'system' && origin !== 'service') return rules;
  return [...rules, `operations:${entryFor(permissions.operations, `identity.${origin}`)}`];
}

function entryFor(list: readonly string[], name: string): string {
  return list.includes('*') ? '*' : name;
}

/** E2A §13: what carries a secret is not recorded. Nothing but an envelope of E2A has a place for one. */
function withoutSecretsIn(given: string | Uint8Array, { auth }: E2AEnvelope): string {
  const text = typeof given === 'string' ? given : new TextDecoder().decode(given);
  if (auth === null) return text;
  const json = JSON.parse(text) as Json;
  if (!isObject(json) || !isObject(json['auth'])) return text;
  const shown = Object.entries(json['auth']).map(([name, value]) => [name, SECRET.has(name) ? REDACTED : value]);
  return JSON.stringify({ ...json, auth: Object.fromEntries(shown) });
}

const SECRET: ReadonlySet<string> = new Set(['bearer_token', 'extra_headers']);
/** As much as a person would read; a larger input is told by its size. */
const MOST_KEPT = 64 * 1024;
