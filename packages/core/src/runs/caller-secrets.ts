import { inspect } from 'node:util';
import type { E2AEnvelope, E2AResponse, Json, JsonObject } from '@dragoman/protocols';
import { isObject } from '@dragoman/protocols';
import type { Redactor } from '../gate/redactor.ts';
import type { Log, LogFields } from '../ports/ports.ts';
import { SecretRedactor } from '../vault/secret-redactor.ts';

/**
 * Removes the secrets that the caller sent along, so that an agent that repeats or throws them does not get them
 * journaled or logged: `auth.bearer_token`, the values of `auth.extra_headers` (E2A §13), and the values of the
 * environments and headers of an editor's MCP servers. Each frame is searched alone, so a secret that is split over two
 * frames is not found.
 */
export interface WithoutSecrets {
  frame(frame: E2AResponse): E2AResponse;
  log(log: Log): Log;
}

export function withoutCallerSecrets({ auth, channel_context: context }: E2AEnvelope): WithoutSecrets {
  const servers = context['mcp_servers'];
  if (auth === null && servers === undefined) return UNCHANGED;
  const own = auth === null ? [] : [auth.bearer_token, ...Object.values(auth.extra_headers)];
  const secrets = [...own, ...valuesIn(servers)].flatMap(secretsIn);
  if (secrets.length === 0) return UNCHANGED;
  const redactor = new SecretRedactor([...new Set(secrets)]);
  return {
    frame: (frame) => ({ ...frame, ...(redactedMembers(ownMembers(frame), redactor) as Partial<E2AResponse>) }),
    log: (log) => {
      const writing = (level: keyof Log) => (fields: LogFields, message: string) =>
        log[level](redactedFields(fields, redactor), redactor.text(message));
      return { debug: writing('debug'), info: writing('info'), warn: writing('warn'), error: writing('error') };
    },
  };
}

const UNCHANGED: WithoutSecrets = { frame: (frame) => frame, log: (log) => log };

/** The values of the environments and headers of an editor's MCP servers. */
function valuesIn(servers: Json | undefined): Json[] {
  return objectsIn(servers)
    .flatMap(({ env, headers }) => [...objectsIn(env), ...objectsIn(headers)])
    .map(({ value = null }) => value);
}

function objectsIn(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** A value that is not JSON, such as an error, is written as its text. */
function redactedFields(fields: LogFields, redactor: Redactor): LogFields {
  const entries = Object.entries(fields).map(([name, value]) => {
    const isPlain = typeof value !== 'object' || value === null || Array.isArray(value) || isPlainObject(value);
    return [name, isPlain ? redactedValue(value as Json, redactor) : redactor.text(inspect(value))];
  });
  return Object.fromEntries(entries);
}

function isPlainObject(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype;
}

/** The members of a frame that an agent can set; the others echo the request. */
function ownMembers(frame: E2AResponse): JsonObject {
  const { body, task_id, context_id, message_id, source_agent_id, response_kind } = frame;
  const { projections, channel_context, metadata, a2a_metadata, acp_meta, extras } = frame;
  return {
    ...{ body, task_id, context_id, message_id, source_agent_id, response_kind },
    ...{ projections, channel_context, metadata, a2a_metadata, acp_meta, extras },
  };
}

/** The value itself, and for the value of an `Authorization` header also the part after the scheme. */
function secretsIn(value: Json): string[] {
  if (typeof value !== 'string') return [];
  const behindScheme = /^(?:bearer|basic|token|apikey)\s+(\S.*)$/i.exec(value)?.[1] ?? value;
  return [value, behindScheme].filter((secret) => secret.length >= LEAST_LENGTH);
}

function redactedValue(value: Json, redactor: Redactor): Json {
  if (typeof value === 'string') return redactor.text(value);
  if (typeof value === 'number') {
    const text = String(value);
    const shown = redactor.text(text);
    return shown === text ? value : shown;
  }
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, redactor));
  return isObject(value) ? redactedMembers(value, redactor) : value;
}

function redactedMembers(members: JsonObject, redactor: Redactor): JsonObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [redactor.text(name), redactedValue(value, redactor)]),
  );
}

/** Shorter values occur in too many texts by chance. */
const LEAST_LENGTH = 8;
