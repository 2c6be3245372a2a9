import type { Dialect } from '../dialect.ts';
import { type E2AEnvelope, newEnvelope } from '../e2a/envelope.ts';
import { newProvenance } from '../e2a/provenance.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { decodeWire, isLegacyType } from './decode.ts';
import { failureMessage } from './failure-message.ts';
import { wireFromEnvelope } from './from-envelope.ts';
import { wireFromResponse } from './from-response.ts';
import { STAMPS, TYPE_PATTERN, WireBaseMessage } from './message.ts';
import { isAgentRequest, isMessage, lookup, type WireMessage } from './type-map.ts';

/** A2E wire: an agent and its environment, one JSON object per line. */
export const a2eWireDialect: Dialect<WireMessage> = {
  name: 'a2e-wire',
  recognizes,
  decode: decodeWire,
  encode: (message) => message as JsonObject,
  toEnvelope,
  fromEnvelope: wireFromEnvelope,
  fromResponse: wireFromResponse,
  fromFailure: failureMessage,
};

function recognizes(json: Json): boolean {
  if (!isObject(json) || Object.hasOwn(json, 'message_type')) return false;
  const type = json['type'];
  if (typeof type !== 'string' || !(TYPE.test(type) || isLegacyType(type))) return false;
  return STAMPS.some((stamp) => Object.hasOwn(json, stamp)) || (Object.hasOwn(json, 'id') && Object.hasOwn(json, 'ts'));
}

/**
 * The name of a called tool or skill is the method, and its arguments are the params. For any other request, the type
 * is the method.
 */
function toEnvelope(message: WireMessage): E2AEnvelope | undefined {
  const row = lookup(message.type);
  if (row === undefined || !isAgentRequest(row)) return undefined;
  if (isMessage(message, 'tool/call/req')) {
    const { tool_name, timeout } = message;
    return envelopeOf(message, { method: tool_name, params: message.arguments }, { timeout });
  }
  if (isMessage(message, 'skill/call/req')) {
    const { name, timeout, metadata } = message;
    return envelopeOf(message, { method: name, params: message.arguments }, { timeout, metadata });
  }
  return envelopeOf(message, { method: message.type, params: ownFields(message) }, {});
}

function envelopeOf(message: WireMessage, given: Partial<E2AEnvelope>, details: JsonObject): E2AEnvelope {
  const { type, id, ts } = message;
  return newEnvelope({
    ...given,
    provenance: newProvenance({ source_protocol: 'a2e-wire', converter: 'dragoman', details: { type, ...details } }),
    request_id: id ?? null,
    session_id: textOrNull(message['session_id']),
    correlation_id: textOrNull(message['correlation_id']),
    timestamp: ts === undefined ? null : new Date(ts * 1000).toISOString(),
    identity_origin: 'agent',
    is_stream: message['streaming'] === true,
  });
}

/** The fields of a message without its base fields. */
function ownFields(message: WireMessage): JsonObject {
  return Object.fromEntries(Object.entries(message as JsonObject).filter(([name]) => !BASE_FIELDS.has(name)));
}

/** In this protocol an empty string means none. */
function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

const TYPE = new RegExp(TYPE_PATTERN);
const BASE_FIELDS: ReadonlySet<string> = new Set([...Object.keys(WireBaseMessage.properties), ...STAMPS]);
