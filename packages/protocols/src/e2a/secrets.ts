import { isEmpty } from '../holds-something.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { E2AAuth, E2AEnvelope } from './envelope.ts';

/** The envelope as it may be journaled: fields with secrets are emptied, references to credentials stay (E2A §13). */
export function withoutSecrets(envelope: E2AEnvelope): E2AEnvelope {
  const { auth, channel_context: context } = envelope;
  if (auth === null && context['mcp_servers'] === undefined) return envelope;
  return {
    ...envelope,
    ...(auth !== null && { auth: { ...auth, bearer_token: null, extra_headers: {} } }),
    channel_context: withoutServerSecrets(context),
  };
}

/** Redacts the keys of an editor's MCP servers in a channel context. */
export function withoutServerSecrets(context: JsonObject): JsonObject {
  const servers = context['mcp_servers'];
  return Array.isArray(servers) ? { ...context, mcp_servers: servers.map(withoutValues) } : context;
}

/** Redacts the values of an MCP server's environment and headers, which carry its keys. */
function withoutValues(server: Json): Json {
  if (!isObject(server)) return server;
  const emptied = (list: Json) =>
    Array.isArray(list) ? list.map((pair) => (isObject(pair) ? { ...pair, value: REDACTED } : REDACTED)) : REDACTED;
  const { env, headers } = server;
  return {
    ...server,
    ...(env !== undefined && { env: emptied(env) }),
    ...(headers !== undefined && { headers: emptied(headers) }),
  };
}

/** The auth as it may be logged: names of credentials stay, secrets are redacted. */
export function redactedAuth(auth: E2AAuth | null): JsonObject | null {
  if (auth === null) return null;
  return Object.fromEntries(
    Object.entries(auth).flatMap(([name, value]): [string, Json][] => {
      if (isEmpty(value)) return [];
      return [[name, SAFE_AUTH.has(name) && typeof value === 'string' ? value : REDACTED]];
    }),
  );
}

/** Replaces secrets by a marker. They are recognised by their key, or as a bearer credential in a text. */
export function redacted(value: Json): Json {
  if (typeof value === 'string') return value.replace(BEARER, `$1 ${REDACTED}`);
  if (Array.isArray(value)) return value.map(redacted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, isSecret(key, member) ? REDACTED : redacted(member)]),
  );
}

/**
 * Whether the key names a secret; `apiKey`, `x-api-key` and `API_KEY` are equal. References and numbers of tokens are
 * not secrets.
 */
function isSecret(key: string, value: Json): boolean {
  if (value === null || typeof value === 'boolean') return false;
  const folded = key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  if (folded.endsWith('ref')) return false;
  if (folded.includes('token')) return typeof value !== 'number';
  return SECRET_WORDS.some((word) => folded.includes(word));
}

export const REDACTED = '[redacted]';
const SAFE_AUTH: ReadonlySet<string> = new Set(['method_id', 'api_key_ref', 'credential_ref']);
const SECRET_WORDS = ['password', 'passwd', 'passphrase', 'secret', 'authorization', 'apikey', 'privatekey', 'cookie'];
const BEARER = /\b(bearer)\s+[A-Za-z0-9._~+/=-]{8,}/gi;
