import { isObject, type Json, type JsonObject } from '../json.ts';
import { MCP_CODES, type McpError, mcpError } from './errors.ts';
import { isLegacyVersion, MCP_META, MCP_MODERN_VERSION, MCP_VERSIONS } from './versions.ts';

/** The HTTP headers that repeat values of the body. */
export interface McpHeaders {
  /** `MCP-Protocol-Version`. */
  readonly version: string | undefined;
  /** `Mcp-Method`. */
  readonly method: string | undefined;
  /** `Mcp-Name`. */
  readonly name: string | undefined;
}

/** How a modern request describes its client. */
export interface ModernClient {
  readonly capabilities: JsonObject;
  readonly info: JsonObject | undefined;
}

/**
 * Whether a message is of the revision without sessions (2026-07-28, Versioning). A dual-era server decides this for
 * each message, by the version in `_meta` or by a header that only that revision has.
 */
export function isModern(message: JsonObject, headers?: McpHeaders): boolean {
  if (metaOf(message)[MCP_META.version] !== undefined) return true;
  if (headers?.version === MCP_MODERN_VERSION) return true;
  // A client that names an older version uses it, regardless of other headers.
  return headers?.method !== undefined && !isLegacyVersion(headers.version);
}

/** The client of a modern request, or the error in its version, its `_meta` or its headers. */
export function readModern(message: JsonObject, headers?: McpHeaders): ModernClient | McpError {
  const meta = metaOf(message);
  const { [MCP_META.version]: version, [MCP_META.capabilities]: capabilities, [MCP_META.client]: info } = meta;
  if (typeof version !== 'string') return missing(MCP_META.version, `"${MCP_MODERN_VERSION}"`);
  const mismatch = headers === undefined ? undefined : mismatchIn(message, version, headers);
  if (mismatch !== undefined)
    return mcpError(MCP_CODES.header_mismatch, `Header mismatch: ${mismatch}`, { status: 400 });
  if (version !== MCP_MODERN_VERSION) return unsupportedVersion(version);
  if (!isObject(capabilities)) return missing(MCP_META.capabilities, 'an object, {} for none');
  return { capabilities, info: isObject(info) ? info : undefined };
}

export function unsupportedVersion(requested: string): McpError {
  return mcpError(MCP_CODES.unsupported_version, `Unsupported protocol version; use ${MCP_VERSIONS.join(', ')}.`, {
    data: { supported: [...MCP_VERSIONS], requested: requested.slice(0, 64) },
    status: 400,
  });
}

/** `params._meta`; empty if there is none. */
export function metaOf({ params }: JsonObject): JsonObject {
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) ? meta : {};
}

/** The first header that is missing or differs from the body (Streamable HTTP, Server Validation). */
function mismatchIn({ method, params }: JsonObject, version: string, headers: McpHeaders): string | undefined {
  const named = NAMED[String(method)];
  const name = named === undefined || !isObject(params) ? undefined : params[named];
  return (
    difference('MCP-Protocol-Version', headers.version, version) ??
    difference('Mcp-Method', headers.method, method) ??
    (typeof name === 'string' ? difference('Mcp-Name', decoded(headers.name), name) : undefined)
  );
}

function difference(header: string, sent: string | undefined, inBody: Json | undefined): string | undefined {
  if (sent === inBody) return undefined;
  const body = JSON.stringify(inBody ?? null).slice(0, LONGEST);
  if (sent === undefined) return `${header} is missing; expected ${body} as in the body.`;
  return `${header} is ${JSON.stringify(sent.slice(0, LONGEST))}; expected ${body} as in the body.`;
}

/** Values that a header cannot have are sent as Base64 of their UTF-8 (Streamable HTTP, Value Encoding). */
function decoded(value: string | undefined): string | undefined {
  const encoded = value === undefined ? undefined : /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value)?.[1];
  return encoded === undefined ? value : utf8(encoded);
}

/** Our own decoder, because this package uses neither Node nor the DOM. */
function utf8(base64: string): string | undefined {
  const bits = [...base64.replace(/=+$/, '')]
    .map((digit) => DIGITS.indexOf(digit).toString(2).padStart(6, '0'))
    .join('');
  const bytes = bits.match(/.{8}/g) ?? [];
  try {
    return decodeURIComponent(
      bytes.map((byte) => `%${Number.parseInt(byte, 2).toString(16).padStart(2, '0')}`).join(''),
    );
  } catch {
    return undefined;
  }
}

function missing(field: string, expected: string): McpError {
  return mcpError(-32602, `params._meta["${field}"] is required: ${expected}.`, { status: 400 });
}

/** The member of `params` that `Mcp-Name` repeats, by method. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};
const LONGEST = 200;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
