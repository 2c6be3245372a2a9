import { failure, show } from '@dragoman/protocols';
import type { WireErrorCode } from '@dragoman/protocols/a2e-wire';
import { Refused } from '../../refusals/refused.ts';
import { WireRefused } from '../wire/wire-refused.ts';
import { withoutInvisible } from './invisible.ts';
import { REVISIONS } from './mcp-client.ts';
import {
  ConnectionClosed,
  HttpStatusError,
  JsonRpcError,
  MisshapenAnswer,
  NoAnswerInTime,
  OtherRevision,
} from './mcp-error.ts';

/** The error for a caller when an MCP server refused, or could not be reached. */
export function refusedBy(server: string, error: unknown): Error {
  if (error instanceof WireRefused) return error;
  if (error instanceof NoAnswerInTime) return tooLate(server);
  if (error instanceof ConnectionClosed) {
    return new WireRefused('mcp_transport_error', `The MCP server ${server} ended before it answered.`);
  }
  if (error instanceof MisshapenAnswer) {
    const text = `The answer of the MCP server ${server} violates MCP; invalid or missing: ${error.field}`;
    return new WireRefused('mcp_protocol_error', text);
  }
  const words = wordsOf(error).slice(0, 2000);
  if (error instanceof JsonRpcError) {
    const code = CODES[error.code] ?? 'mcp_protocol_error';
    return new WireRefused(code, `The MCP server ${server} refused: ${words}`, { mcp_code: error.code });
  }
  if (error instanceof HttpStatusError) {
    const code = NOT_NOW.has(error.status) ? 'mcp_server_unavailable' : 'mcp_protocol_error';
    const text = `The MCP server ${server} refused with HTTP status ${error.status}: ${words}`;
    return new WireRefused(code, text, { http_status: error.status });
  }
  return new WireRefused('mcp_transport_error', `The connection to the MCP server ${server} broke: ${words}`);
}

/** Why a server could not be used, for a caller, without the server's address. */
export function whyUnreached(error: unknown): string {
  if (!(error instanceof OtherRevision)) return 'cannot be reached';
  const offered = show(withoutInvisible(error.offered.slice(0, LONGEST_REVISION)));
  return `speaks MCP ${offered} only; supported here: ${REVISIONS.join(', ')}`;
}

/** Why a server could not be used, worded for the operator: with the last output of its program. */
export function whyUngreeted(error: unknown, lastWords: string): string {
  const why = error instanceof ConnectionClosed ? 'it ended before it had listed its tools' : wordsOf(error);
  return lastWords === '' ? why : `${why}; it wrote: ${lastWords}`;
}

/**
 * Whether an HTTP server reports that it does not know our session (MCP, Session Management: 404; many servers answer
 * 400). The request then had no effect.
 */
export function isForgotten(error: unknown): boolean {
  if (!(error instanceof HttpStatusError)) return false;
  return error.status === 404 || (error.status === 400 && /session/i.test(error.message));
}

/** The message of an error, without the code that some servers put in front of it. */
function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^(?:MCP error -?\d+: )+/, '') : 'It failed.';
}

export function tooLate(server: string): Refused {
  return new Refused(failure('timeout', {}, `The MCP server ${server} did not answer in time.`));
}

/** Codes of JSON-RPC 2.0 §5.1 and of MCP. */
const CODES: Readonly<Record<number, WireErrorCode>> = {
  [-32000]: 'mcp_transport_error',
  [-32002]: 'mcp_resource_not_found',
  [-32601]: 'mcp_capability_missing',
};
/** RFC 9110 §15.6, RFC 6585 §4: these statuses are temporary. */
const NOT_NOW: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const LONGEST_REVISION = 40;
