import { failure, show } from '@dragoman/protocols';
import type { WireErrorCode } from '@dragoman/protocols/a2e-wire';
import { Refused } from '../../refused.ts';
import { WireRefused } from '../wire/wire-refused.ts';
import { withoutInvisible } from './invisible.ts';

/** What an MCP server, or the way to it, refused. */
export function refusedBy(server: string, error: unknown): Error {
  if (error instanceof WireRefused) return error;
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  const words = typeof message === 'string' ? message.replace(PREFIX, '').slice(0, 2000) : 'It failed.';
  if (code === REQUEST_TIMEOUT) return tooLate(server);
  if (code === CLOSED && ENDED.has(words)) {
    return new WireRefused('mcp_transport_error', `The MCP server ${server} ended before it answered.`, {
      mcp_code: code,
    });
  }
  if (typeof code === 'number') {
    const known = words.startsWith(OF_HTTP) && NOT_NOW.has(code) ? 'mcp_server_unavailable' : CODES[code];
    return new WireRefused(known ?? 'mcp_protocol_error', `The MCP server ${server} refused: ${words}`, {
      mcp_code: code,
    });
  }
  const field = misshapen(error);
  if (field !== undefined) {
    const text = `The MCP server ${server} answered with what MCP does not have: ${field}`;
    return new WireRefused('mcp_protocol_error', text);
  }
  return new WireRefused('mcp_transport_error', `The connection to the MCP server ${server} broke: ${words}`);
}

/** What is to be said of a server that could not be greeted: what it is to a caller, and not where it runs. */
export function whyUnreached(error: unknown, spoken: readonly string[]): string {
  const { message } = Object(error) as { message?: unknown };
  const [, offered] = (typeof message === 'string' && OTHER_REVISION.exec(message)) || [];
  if (offered === undefined) return 'cannot be reached';
  return `speaks MCP ${show(withoutInvisible(offered.slice(0, LONGEST_REVISION)))} only, and here ${spoken.join(', ')} are spoken`;
}

/** The same for the operator, with what its program wrote last. */
export function whyUngreeted(error: unknown, lastWords: string): string {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  const words = (typeof message === 'string' ? message : String(error)).replace(PREFIX, '');
  const why = code === CLOSED && ENDED.has(words) ? 'it ended before it had told what it has' : words;
  return lastWords === '' ? why : `${why}; it wrote: ${lastWords}`;
}

/** The first part of an answer that the SDK could not read; `undefined` when it is something else that went wrong. */
function misshapen(error: unknown): string | undefined {
  const { issues } = Object(error) as { issues?: unknown };
  if (!Array.isArray(issues)) return undefined;
  const { path } = Object(issues[0]) as { path?: unknown };
  return Array.isArray(path) && path.length > 0 ? path.join('.') : 'the answer';
}

/**
 * Whether a server over HTTP says that it does not know our session (MCP, Session Management: 404; many servers say 400). Of
 * what was asked nothing was done then.
 */
export function isForgotten(error: unknown): boolean {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return code === 404 || (code === 400 && typeof message === 'string' && /session/i.test(message));
}

export function tooLate(server: string): Refused {
  return new Refused(failure('timeout', {}, `The MCP server ${server} did not answer in time.`));
}

/** As the SDK has it; a server may answer with it too, so that the words tell. */
const CLOSED = -32000;
/** As `DirectTransport` words it, and as the SDK does. */
const ENDED: ReadonlySet<string> = new Set(['the connection closed', 'Connection closed']);
/** JSON-RPC 2.0 §5.1, and what MCP and its SDK add. */
const CODES: Readonly<Record<number, WireErrorCode>> = {
  [CLOSED]: 'mcp_transport_error',
  [-32002]: 'mcp_resource_not_found',
  [-32601]: 'mcp_capability_missing',
};
/** As the SDK words what is a status of HTTP, and no code of the server's own. */
const OF_HTTP = 'Streamable HTTP error: ';
/** RFC 9110 §15.6, RFC 6585 §4: another time it may. */
const NOT_NOW: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const REQUEST_TIMEOUT = -32001;
/** As the SDK words it. */
const OTHER_REVISION = /protocol version is not supported: (.*)/s;
const LONGEST_REVISION = 40;
/** The SDK puts its own in front, and so does the server's. */
const PREFIX = /^(?:MCP error -?\d+: )+/;
