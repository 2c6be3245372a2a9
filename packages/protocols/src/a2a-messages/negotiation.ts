import { type Failure, failure } from '../failure.ts';
import { type AgentCard, schemaVersionsOf } from './agent-card.ts';

/** The negotiated version, or the failure for the agent that started the handshake. */
export type Negotiation =
  | { readonly ok: true; readonly protocol: string; readonly schemaVersion: string }
  | { readonly ok: false; readonly failure: Failure };

/** The highest protocol and schema versions that both cards name. */
export function negotiate(ours: AgentCard, theirs: AgentCard): Negotiation {
  const protocol = negotiateProtocol(ours.supported_protocols, theirs.supported_protocols);
  if (protocol === undefined) {
    return mismatch('protocol', ours.supported_protocols, theirs.supported_protocols);
  }
  const schemaVersion = negotiateSchemaVersion(schemaVersionsOf(ours), schemaVersionsOf(theirs));
  if (schemaVersion === undefined) {
    return mismatch('schema version', schemaVersionsOf(ours), schemaVersionsOf(theirs));
  }
  return { ok: true, protocol, schemaVersion };
}

/**
 * The highest `A2A/<major>.<minor>` in both lists, by number: 1.10 is above 1.9. A shared major version is not enough;
 * the messages are closed, so one side would refuse the other's additions.
 */
export function negotiateProtocol(ours: readonly string[], theirs: readonly string[]): string | undefined {
  return highestCommon(PROTOCOL, ours, theirs);
}

export function negotiateSchemaVersion(ours: readonly string[], theirs: readonly string[]): string | undefined {
  return highestCommon(SCHEMA_VERSION, ours, theirs);
}

function highestCommon(pattern: RegExp, ours: readonly string[], theirs: readonly string[]): string | undefined {
  const known = new Set(theirs);
  let best: string | undefined;
  let bestNumbers: readonly number[] = [];
  for (const version of ours) {
    const numbers = pattern.exec(version)?.slice(1).map(Number);
    if (numbers === undefined || !known.has(version)) continue;
    if (best === undefined || isAbove(numbers, bestNumbers)) {
      best = version;
      bestNumbers = numbers;
    }
  }
  return best;
}

function isAbove(numbers: readonly number[], others: readonly number[]): boolean {
  for (const [index, number] of numbers.entries()) {
    const other = others[index] ?? 0;
    if (number !== other) return number > other;
  }
  return false;
}

function mismatch(what: string, ours: readonly string[], theirs: readonly string[]): Negotiation {
  const message = `No common ${what}: this side supports ${list(ours)}, the other side ${list(theirs)}.`;
  return { ok: false, failure: failure('version_mismatch', { supported: ours.slice(0, MOST_NAMED) }, message) };
}

function list(versions: readonly string[]): string {
  const named = versions.slice(0, MOST_NAMED).join(', ');
  return versions.length > MOST_NAMED ? `${named} and ${versions.length - MOST_NAMED} more` : named || 'none';
}

const MOST_NAMED = 5;
const PROTOCOL = /^A2A\/(\d{1,9})\.(\d{1,9})$/;
const SCHEMA_VERSION = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/;
