import { isObject, type Json, type JsonObject } from '@dragoman/protocols';
import type { WireMessage } from '@dragoman/protocols/a2e-wire';
import type { WireRequest } from './wire-request.ts';

/** One line about one request: who did what, never the content. */
export interface AuditEntry {
  /** Seconds since 1970. */
  readonly ts: number;
  readonly session_id: string;
  readonly req_id: string;
  readonly correlation_id: string;
  /** The id of the caller. */
  readonly agent_id: string;
  /** The key that authenticated the caller; empty without one, absent in lines of earlier versions. */
  readonly key_id?: string;
  readonly type: string;
  /** The tool or skill that was called; empty for other requests. */
  readonly name: string;
  readonly success: boolean;
  readonly duration_ms: number;
  readonly error_code: string;
  readonly input_bytes: number;
  readonly output_bytes: number;
}

/** Writes a line. A failure does not affect the request. */
export type Audit = (entry: AuditEntry) => void;

/** How a request ended. */
export interface Ended {
  /** The type and the fields of the answer. */
  readonly type: string;
  readonly fields: JsonObject;
  readonly outputBytes: number;
  readonly now: Date;
  /** In the clock's elapsed milliseconds. */
  readonly endedAt: number;
}

export function auditEntry(request: WireRequest, { type, fields, outputBytes, now, endedAt }: Ended): AuditEntry {
  const { message, session, requestId, startedAt, bytes } = request;
  const isError = type === 'error';
  const { data, error, success, ok } = fields;
  // Success is in the result of a tool, in `success` of a chain's answer, or in `ok` of other answers.
  const result = isObject(data) ? data : {};
  const fault = isObject(error) ? error : {};
  return {
    ts: now.getTime() / 1000,
    session_id: session.id,
    req_id: textOf(requestId),
    correlation_id: textOf(message['correlation_id']),
    agent_id: session.principal.id,
    key_id: session.principal.keyId ?? '',
    type: textOf(message.type),
    name: nameIn(message),
    success: !isError && result['success'] !== false && success !== false && ok !== false,
    duration_ms: Math.round((endedAt - startedAt) * 1000) / 1000,
    error_code: textOf(isError ? fields['code'] : (result['error_code'] ?? fault['code'])),
    input_bytes: bytes,
    output_bytes: outputBytes,
  };
}

function nameIn(message: WireMessage): string {
  return textOf(message['tool_name'] ?? message['name']);
}

/** Shortens texts, because those of refused messages may be long. */
function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value.slice(0, LONGEST) : '';
}

const LONGEST = 256;
