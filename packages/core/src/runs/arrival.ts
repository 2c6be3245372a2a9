import { type E2AEnvelope, isObject, type JsonObject } from '@dragoman/protocols';
import type { Call, Received } from '../call/call.ts';
import { allows, entryFor, type Principal } from '../call/principal.ts';
import { claimedIdentities } from './claimed-identities.ts';
import { type Given, givenIn, givenOf } from './given.ts';

/** How a request arrived, for `explain`. */
export interface Arrival {
  /** The API key of the sender; null where a signature proved the sender, or nothing did. */
  readonly keyId: string | null;
  /** Whether a signature proved its sender. */
  readonly isSigned: boolean;
  /** The entries of the caller's permissions that allowed it, such as `agents:*`. */
  readonly rules: readonly string[];
  /** The dialect of the endpoint; null where none was recorded. */
  readonly dialect: string | null;
  /** Bytes or characters received. */
  readonly size: number;
  /** The received text, without the secrets of `auth` and of an editor's MCP servers; null where it is not kept. */
  readonly text: string | null;
}

/**
 * The arrival as one text: its facts in the first line, followed by the received text. It is written with every request, so
 * it omits everything that can be computed later or that the record of the envelope contains.
 */
export function arrivalText(envelope: E2AEnvelope, { principal, beside }: Call, agentId: string): string {
  const received = beside?.received;
  const size = received?.text.length ?? 0;
  const kept = received === undefined || size > MOST_KEPT ? 'nothing' : keptOf(received, envelope);
  const rules = rulesFor(principal, envelope, agentId);
  const facts: Facts = [principal.keyId ?? null, rules, received?.dialect ?? null, size, kept];
  if (beside?.nonce !== undefined) facts.push('signed');
  const line = JSON.stringify(facts);
  if (kept !== 'text' || received === undefined) return line;
  return `${line}\n${typeof received.text === 'string' ? received.text : textIn(received.text)}`;
}

/** Text that was read as JSON is valid UTF-8, so it is not checked again. */
function textIn({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString();
}

/** `recorded` is the recorded envelope of the request. */
export function readArrival(text: string, recorded: JsonObject): Arrival {
  const end = text.indexOf('\n');
  const [keyId, rules, dialect, size, kept, proof] = JSON.parse(end === -1 ? text : text.slice(0, end)) as Facts;
  return { keyId, isSigned: proof === 'signed', rules, dialect, size, text: textOf(kept) };

  function textOf(what: Kept): string | null {
    if (what === 'nothing') return null;
    return what === 'text' ? text.slice(end + 1) : JSON.stringify(givenIn(what, recorded));
  }
}

type Kept = 'nothing' | 'text' | Given;
type Facts = [
  keyId: string | null,
  rules: string[],
  dialect: string | null,
  size: number,
  kept: Kept,
  proof?: 'signed',
];

function keptOf({ json }: Received, envelope: E2AEnvelope): Kept {
  return json !== undefined && isObject(json) ? givenOf(json, envelope) : 'text';
}

/** The entries of the caller's permissions that allow the request. */
function rulesFor({ id, permissions }: Principal, envelope: E2AEnvelope, agentId: string): string[] {
  const rules = allows(permissions.agents, agentId) ? [`agents:${entryFor(permissions.agents, agentId)}`] : [];
  const claimed = claimedIdentities(envelope, id);
  return [...rules, ...claimed.map((operation) => `operations:${entryFor(permissions.operations, operation)}`)];
}

/** In characters or bytes. Of a larger input only the size is kept: nobody would read more. */
const MOST_KEPT = 64 * 1024;
