import { getHeapStatistics } from 'node:v8';
import { DEFAULT_JSON_LIMITS, type JsonLimits, type Static } from '@dragoman/protocols';
import { CONNECTIONS, type IntakeOptions } from '../edges/intake.ts';
import type { HttpLimits, SocketLimits } from '../edges/limits.ts';
import { BYTES_PER_MINUTE, MESSAGES_PER_MINUTE } from '../edges/message-rates.ts';
import { DEFAULT_LINE_LIMITS, type PeerLineLimits } from '../edges/ndjson-lines.ts';
import { UNPROVEN_MESSAGE_BYTES, UNPROVEN_TOTAL_BYTES } from '../edges/unproven-budget.ts';

/** What every peer may use of the endpoints: keys of `limits` in the config, beside the limits of a caller. */
export const ENDPOINT_LIMITS = {
  body_bytes: atLeast(1024, 'The largest body of a request to an E2A endpoint. Default: 1048576.'),
  unproven_bytes: atLeast(
    1024,
    `The most that is read of one body or message before its sender is proven by an API key, a signature or a handshake. Default: ${UNPROVEN_MESSAGE_BYTES}.`,
  ),
  unproven_total_bytes: atLeast(
    65_536,
    `Memory for bodies and messages of all unproven senders together; beyond it they are refused with 503. Default: ${UNPROVEN_TOTAL_BYTES}.`,
  ),
  header_bytes: atLeast(1024, 'All headers of a request. Default: 16384.'),
  header_fields: atLeast(8, 'How many headers a request may have. Default: 64.'),
  headers_ms: atLeast(100, 'For the headers of a request to arrive. Default: 10000.'),
  request_ms: atLeast(100, 'For a whole request to arrive. Default: 30000.'),
  keep_alive_ms: atLeast(100, 'How long an idle connection is kept. Default: 5000.'),
  connections: atLeast(
    1,
    `Open connections of all kinds; one address, unless it is in trusted_proxies, may have a quarter of them. Lowered at start if the process may not open as many files. Default: ${CONNECTIONS}.`,
  ),
  connections_per_agent: atLeast(
    1,
    'Requests, connections and answers resumed over WebSockets that one caller may have open at once. Default: 1000. On the A2E wire never more than a quarter of wire.max_connections, on messages.port than 250.',
  ),
  // Deeper values parse, but can be neither written nor cloned.
  json_depth: within(4, 500, `How deep incoming JSON may be nested. Default: ${DEFAULT_JSON_LIMITS.depth}.`),
  json_nodes: within(
    100,
    100_000_000,
    'How many values inbound JSON may have, including arrays and objects. Default: any number up to 64 KiB; above that 1 for every 8 characters, at least 32768 and at most 200000.',
  ),
  json_keys: within(
    100,
    100_000_000,
    `How many different keys inbound JSON of more than 64 KiB may have. Default: ${DEFAULT_JSON_LIMITS.keys}.`,
  ),
  json_key_bytes: within(
    64,
    1_048_576,
    'The longest key in incoming JSON, in bytes of UTF-8. Default: no limit of its own.',
  ),
  json_string_bytes: within(
    1024,
    268_435_456,
    'The longest string in incoming JSON, in bytes of UTF-8. A workflow inside a JSON body is one. Default: no limit of its own.',
  ),
  // Any double fits into 24 characters.
  json_number_chars: within(
    24,
    4096,
    `The longest number in incoming JSON, in characters. Default: ${DEFAULT_JSON_LIMITS.numberCharacters}.`,
  ),
  message_bytes: atLeast(1024, 'The largest WebSocket message. Default: 8388608.'),
  messages_per_minute: atLeast(
    1,
    `Messages that one caller may send in a minute over WebSockets, TCP ports and the A2E wire. Unproven peers of one address together have a hundredth of it. A sender past it is read more slowly. Default: ${MESSAGES_PER_MINUTE}.`,
  ),
  message_bytes_per_minute: atLeast(1024, `The same in bytes. Default: ${BYTES_PER_MINUTE}.`),
  message_fragments: atLeast(1, 'How many parts a WebSocket message may come in. Default: 64.'),
  message_ms: atLeast(
    100,
    'The time for a WebSocket message, or a line on a port or a unix socket, to arrive completely. Default: 10000.',
  ),
  identify_ms: atLeast(100, 'For a peer of the A2E wire or of A2A messages to prove who it is. Default: 5000.'),
  ping_ms: atLeast(1000, 'How often a WebSocket peer gets a ping. Default: 30000.'),
  unread_bytes: atLeast(
    65_536,
    'Bytes sent to all peers together that they have not read. Beyond that, the caller that holds most of them loses the connection that has not read for the longest time. Default: a quarter of the heap limit.',
  ),
  buffer_bytes: atLeast(1024, 'What a connection may leave unread before it has to wait. Default: 1048576.'),
} as const;

export type EndpointLimits = {
  readonly [Name in keyof typeof ENDPOINT_LIMITS]?: Static<(typeof ENDPOINT_LIMITS)[Name]>;
};

/** The same for the edges, which have their own words and defaults. */
export function edgeLimits(limits: EndpointLimits): {
  limits: Partial<HttpLimits>;
  socketLimits: Partial<SocketLimits>;
} {
  return {
    limits: defined({
      maxHeaderBytes: limits.header_bytes,
      maxHeaderFields: limits.header_fields,
      headersMs: limits.headers_ms,
      requestMs: limits.request_ms,
      keepAliveMs: limits.keep_alive_ms,
      maxPerCaller: limits.connections_per_agent,
    }),
    socketLimits: defined({
      maxMessageBytes: limits.message_bytes,
      maxFragments: limits.message_fragments,
      messageMs: limits.message_ms,
      pingMs: limits.ping_ms,
      maxBufferedBytes: limits.buffer_bytes,
    }),
  };
}

/** What all peers together may leave unread. */
export function unreadBytes({ unread_bytes: bytes = getHeapStatistics().heap_size_limit / 4 }: EndpointLimits): number {
  return bytes;
}

/** And for the ports and sockets that take plain lines. */
export function lineLimits({ message_ms: lineMs, buffer_bytes: buffer }: EndpointLimits): Partial<PeerLineLimits> {
  // One answer alone may be larger than all a peer may leave unread, and reach one that reads.
  const mostUnsentBytes =
    buffer === undefined ? undefined : Math.max(GIVEN_UP * buffer, DEFAULT_LINE_LIMITS.mostUnsentBytes);
  return defined({ lineMs, maxUnsentBytes: buffer, mostUnsentBytes });
}

/** And for what all endpoints share. */
export function intakeLimits(limits: EndpointLimits): Pick<IntakeOptions, 'unproven' | 'rates'> {
  return {
    unproven: defined({ messageBytes: limits.unproven_bytes, totalBytes: limits.unproven_total_bytes }),
    rates: defined({ messagesPerMinute: limits.messages_per_minute, bytesPerMinute: limits.message_bytes_per_minute }),
  };
}

/** And for JSON, at every endpoint. */
export function jsonLimits(limits: EndpointLimits): JsonLimits {
  return defined({
    depth: limits.json_depth,
    nodes: limits.json_nodes,
    keys: limits.json_keys,
    keyBytes: limits.json_key_bytes,
    stringBytes: limits.json_string_bytes,
    numberCharacters: limits.json_number_chars,
  });
}

/** The time a peer has to prove its identity after connecting, on any transport. */
export function identifyMs({ identify_ms: ms = IDENTIFY_MS }: EndpointLimits): number {
  return ms;
}

function atLeast<Minimum extends number>(minimum: Minimum, description: string) {
  return { type: 'integer', minimum, description } as const;
}

function within<Minimum extends number, Maximum extends number>(
  minimum: Minimum,
  maximum: Maximum,
  description: string,
) {
  return { ...atLeast(minimum, description), maximum } as const;
}

/** Without what was left out, so that defaults stay. */
function defined<Names extends string>(given: Record<Names, number | undefined>): { [Name in Names]?: number } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in Names]?: number };
}

const IDENTIFY_MS = 5_000;

/** So many times what a peer may leave unread, and it is past helping. */
const GIVEN_UP = 32;
