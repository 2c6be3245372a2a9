import {
  type Dialect,
  dialectNamed,
  type E2AEnvelope,
  encodeEnvelope,
  isObject,
  type Json,
  parseJson,
  type WayIn,
} from '@dragoman/protocols';
import { mailboxDialect, mailboxDialectWith } from '@dragoman/protocols/a2a-mailbox';
import type { Arrival } from '../runs/arrival.ts';
import { changesBetween, NO_CHANGES, unsaidIn } from './changes.ts';

/**
 * The fields lost and added between the message received and its envelope. To find them, the envelope is converted back
 * to the dialect of the endpoint: fields that do not return were lost. For an endpoint without a `Dialect`, values that
 * the envelope does not contain were lost.
 */
export function wayIn({ dialect: name, text }: Arrival, envelope: E2AEnvelope, acceptedAt: Date): WayIn {
  const dialect = name === null ? undefined : (ANY_SIZE.get(name) ?? dialectNamed(name));
  const json = text === null ? undefined : parseJson(text);
  if (name === null || json === undefined || !json.ok) return { ...NO_CHANGES, warnings: [] };
  const given = json.value;
  const recorded = encodeEnvelope(envelope);
  const invented = unsaidIn(recorded, [given], why);
  if (dialect === undefined) {
    // The version of JSON-RPC belongs to the framing.
    const content = isObject(given) ? { ...given, jsonrpc: null } : given;
    const dropped = unsaidIn(content, [recorded], () => 'the envelope has no place for it');
    return { dropped, changed: [], invented, warnings: [] };
  }
  const read = dialect.decode(given, acceptedAt);
  const warnings = read.ok ? read.warnings : read.issues;
  if (dialect.name === 'e2a') return { ...changesBetween(given, recorded, why), warnings };
  const back = dialect.fromEnvelope(envelope, { id: NO_ID, now: acceptedAt });
  const returned: Json = back.ok ? dialect.encode(back.value) : {};
  const { dropped, changed } = changesBetween(given, returned, (pointer) => FOREIGN[topOf(pointer)]);
  return { dropped, changed, invented, warnings };
}

function why(pointer: string): string | undefined {
  return pointer.startsWith('/auth/') ? 'a secret is not recorded (E2A §13)' : REASONS[topOf(pointer)];
}

function topOf(pointer: string): string {
  return pointer.split('/', 2).join('/');
}

const REASONS: Readonly<Record<string, string>> = {
  '/provenance': 'records the source and the conversion',
  '/source_agent_id': 'the proven caller',
  '/request_id': 'the sender gave none',
  '/agent_ref': 'the target, from the path or the recipient',
};

const FOREIGN: Readonly<Record<string, string>> = {
  '/auth': 'it was verified at the endpoint and is not passed to the agent',
};

/** Dialects without limits on size, because the endpoint has applied its own. */
const ANY_SIZE: ReadonlyMap<string, Dialect<unknown>> = new Map([
  [
    mailboxDialect.name,
    mailboxDialectWith({ contentCharacters: Number.POSITIVE_INFINITY, contentBytes: Number.POSITIVE_INFINITY }),
  ],
]);

const NO_ID = '0'.repeat(32);
