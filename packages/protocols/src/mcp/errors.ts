import { FAILURES, type Failure } from '../failure.ts';
import type { Json, JsonObject } from '../json.ts';

/** The error codes that MCP 2026-07-28 defines beside those of JSON-RPC (basic, Error Codes). */
export const MCP_CODES = { header_mismatch: -32020, missing_capability: -32021, unsupported_version: -32022 } as const;

/** An error of JSON-RPC with the HTTP status it is sent with. */
export interface McpError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
  /** The status of the HTTP answer. */
  readonly status: number;
}

/**
 * A failure in MCP's terms. The codes -32000 to -32099 belong to MCP, so a failure without a standard JSON-RPC code has
 * its HTTP status as its code. The HTTP status of the answer is 200, because the request could be read.
 */
export function mcpErrorOf({ code, message, retryable, details }: Failure): McpError {
  const row = FAILURES[code];
  const { issues = [], suggestions = [], retry_after: retryAfter } = details;
  const data: JsonObject = {
    code,
    retryable,
    ...(issues.length > 0 && { issues: issues.map((issue) => ({ ...issue })) as unknown as Json }),
    ...(suggestions.length > 0 && { suggestions: [...suggestions] }),
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
  };
  return {
    code: STANDARD.has(row.jsonrpc) ? row.jsonrpc : row.http,
    message: withSuggestions(message, suggestions),
    data,
    status: 200,
  };
}

/** An error with a code of JSON-RPC or of MCP. */
export function mcpError(
  code: number,
  message: string,
  more: { readonly data?: Json; readonly status?: number } = {},
): McpError {
  return { code, message, status: more.status ?? 200, ...(more.data !== undefined && { data: more.data }) };
}

/** The error as the member of a response. */
export function errorMember({ code, message, data }: McpError): JsonObject {
  return { code, message, ...(data !== undefined && { data }) };
}

/** A message with its suggestions, for readers that see only the text. */
export function withSuggestions(message: string, suggestions: readonly string[]): string {
  if (suggestions.length === 0) return message;
  const hints = suggestions.map(
    (hint) => `${hint.charAt(0).toUpperCase()}${hint.slice(1)}${/[.?!]$/.test(hint) ? '' : '.'}`,
  );
  return `${message} ${hints.join(' ')}`;
}

const STANDARD: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602, -32603]);
