import { getHeapStatistics } from 'node:v8';
import type { Filled } from '@dragoman/core';
import { DEFAULT_JSON_LIMITS, type JsonLimits } from '@dragoman/protocols';
import { CONNECTIONS, type IntakeOptions } from '../edges/intake.ts';
import { DEFAULT_HTTP_LIMITS, DEFAULT_SOCKET_LIMITS, type HttpLimits, type SocketLimits } from '../edges/limits.ts';
import { BYTES_PER_MINUTE, MESSAGES_PER_MINUTE } from '../edges/message-rates.ts';
import { DEFAULT_LINE_LIMITS, type PeerLineLimits } from '../edges/ndjson-lines.ts';
import { UNPROVEN_MESSAGE_BYTES, UNPROVEN_TOTAL_BYTES } from '../edges/unproven-budget.ts';

/**
 * The keys of `limits` in the configuration that apply to every peer at the endpoints. The limits of callers are beside
 * them.
 */
export const ENDPOINT_LIMITS = {
  body_bytes: { ...atLeast(1024, 'The largest body of a request to an E2A endpoint.'), default: 1_048_576 },
  unproven_bytes: {
    ...atLeast(
      1024,
      'Maximum bytes of one body or message that are read before its sender is authenticated by an API key, a signature or a handshake.',
    ),
    default: UNPROVEN_MESSAGE_BYTES,
  },
  unproven_total_bytes: {
    ...atLeast(
      65_536,
      'Memory for bodies and messages of all unauthenticated senders together; further ones are rejected with 503.',
    ),
    default: UNPROVEN_TOTAL_BYTES,
  },
  header_bytes: {
    ...atLeast(1024, 'Maximum bytes of all request headers.'),
    default: DEFAULT_HTTP_LIMITS.maxHeaderBytes,
  },
  header_fields: {
    ...atLeast(8, 'Maximum number of headers of a request.'),
    default: DEFAULT_HTTP_LIMITS.maxHeaderFields,
  },
  headers_ms: { ...atLeast(100, 'The timeout for the headers of a request.'), default: DEFAULT_HTTP_LIMITS.headersMs },
  request_ms: { ...atLeast(100, 'The timeout for a whole request.'), default: DEFAULT_HTTP_LIMITS.requestMs },
  keep_alive_ms: { ...atLeast(100, 'How long an idle connection is kept.'), default: DEFAULT_HTTP_LIMITS.keepAliveMs },
  connections: {
    ...atLeast(
      1,
      'Open connections of all kinds; one address, unless it is in trusted_proxies, may have a quarter of them. Lowered at start if the process may not open as many files.',
    ),
    default: CONNECTIONS,
  },
  connections_per_agent: {
    ...atLeast(
      1,
      'Maximum number of open requests, connections and resumed WebSocket answers of one caller. On the A2E wire at most a quarter of wire.max_connections, on messages.port at most 250.',
    ),
    default: DEFAULT_HTTP_LIMITS.maxPerCaller,
  },
  // Deeper values parse, but can be neither written nor cloned.
  json_depth: { ...within(4, 500, 'Maximum nesting depth of incoming JSON.'), default: DEFAULT_JSON_LIMITS.depth },
  json_nodes: within(
    100,
    100_000_000,
    'Maximum number of values in incoming JSON, including arrays and objects. Default: no limit up to 64 KiB; above that 1 for every 8 characters, at least 32768 and at most 200000.',
  ),
  json_keys: {
    ...within(100, 100_000_000, 'Maximum number of different keys in incoming JSON of more than 64 KiB.'),
    default: DEFAULT_JSON_LIMITS.keys,
  },
  json_key_bytes: within(
    64,
    1_048_576,
    'The longest key in incoming JSON, in bytes of UTF-8. Default: no separate limit.',
  ),
  json_string_bytes: within(
    1024,
    268_435_456,
    'The longest string in incoming JSON, in bytes of UTF-8. A workflow inside a JSON body is one. Default: no separate limit.',
  ),
  // Any double fits into 24 characters.
  json_number_chars: {
    ...within(24, 4096, 'The longest number in incoming JSON, in characters.'),
    default: DEFAULT_JSON_LIMITS.numberCharacters,
  },
  message_bytes: { ...atLeast(1024, 'The largest WebSocket message.'), default: DEFAULT_SOCKET_LIMITS.maxMessageBytes },
  messages_per_minute: {
    ...atLeast(
      1,
      'Messages that one caller may send in a minute over WebSockets, TCP ports and the A2E wire. Unauthenticated peers of one address share a hundredth of it. A sender over the limit is read more slowly.',
    ),
    default: MESSAGES_PER_MINUTE,
  },
  message_bytes_per_minute: { ...atLeast(1024, 'The same in bytes.'), default: BYTES_PER_MINUTE },
  message_fragments: {
    ...atLeast(1, 'Maximum number of fragments of a WebSocket message.'),
    default: DEFAULT_SOCKET_LIMITS.maxFragments,
  },
  message_ms: {
    ...atLeast(100, 'The time for a WebSocket message, or a line on a port or a unix socket, to arrive completely.'),
    default: DEFAULT_SOCKET_LIMITS.messageMs,
  },
  identify_ms: {
    ...atLeast(100, 'The timeout for a peer of the A2E wire or of A2A messages to authenticate.'),
    default: 5000,
  },
  ping_ms: {
    ...atLeast(1000, 'How often a WebSocket peer gets a ping.'),
    default: DEFAULT_SOCKET_LIMITS.pingMs,
  },
  unread_bytes: atLeast(
    65_536,
    'Bytes sent to all peers together that they have not read. Beyond that, the caller that holds most of them loses the connection that has not read for the longest time. Default: a quarter of the heap limit.',
  ),
  buffer_bytes: {
    ...atLeast(1024, 'Unread bytes of one connection before sending to it pauses.'),
    default: DEFAULT_SOCKET_LIMITS.maxBufferedBytes,
  },
} as const;

export type EndpointLimits = Filled<{ readonly type: 'object'; readonly properties: typeof ENDPOINT_LIMITS }>;

/** The limits for the edges, which have their own names and defaults. */
export function edgeLimits(limits: EndpointLimits): {
  limits: Partial<HttpLimits>;
  socketLimits: Partial<SocketLimits>;
} {
  return {
    limits: {
      maxHeaderBytes: limits.header_bytes,
      maxHeaderFields: limits.header_fields,
      headersMs: limits.headers_ms,
      requestMs: limits.request_ms,
      keepAliveMs: limits.keep_alive_ms,
      maxPerCaller: limits.connections_per_agent,
    },
    socketLimits: {
      maxMessageBytes: limits.message_bytes,
      maxFragments: limits.message_fragments,
      messageMs: limits.message_ms,
      pingMs: limits.ping_ms,
      maxBufferedBytes: limits.buffer_bytes,
    },
  };
}

/** The bytes that all peers together may leave unread. */
export function unreadBytes({ unread_bytes: bytes = getHeapStatistics().heap_size_limit / 4 }: EndpointLimits): number {
  return bytes;
}

/** The limits for the ports and sockets that take plain lines. */
export function lineLimits({ message_ms: lineMs, buffer_bytes: buffer }: EndpointLimits): Partial<PeerLineLimits> {
  // A single answer may be larger than what a peer may leave unread, and must still reach a peer that reads.
  const mostUnsentBytes = Math.max(GIVEN_UP * buffer, DEFAULT_LINE_LIMITS.mostUnsentBytes);
  return { lineMs, maxUnsentBytes: buffer, mostUnsentBytes };
}

/** The limits that all endpoints share. */
export function intakeLimits(limits: EndpointLimits): Pick<IntakeOptions, 'unproven' | 'rates'> {
  return {
    unproven: { messageBytes: limits.unproven_bytes, totalBytes: limits.unproven_total_bytes },
    rates: { messagesPerMinute: limits.messages_per_minute, bytesPerMinute: limits.message_bytes_per_minute },
  };
}

/** The limits for JSON, at every endpoint. */
export function jsonLimits(limits: EndpointLimits): JsonLimits {
  const { json_nodes: nodes, json_key_bytes: keyBytes, json_string_bytes: stringBytes } = limits;
  return {
    depth: limits.json_depth,
    keys: limits.json_keys,
    numberCharacters: limits.json_number_chars,
    ...(nodes !== undefined && { nodes }),
    ...(keyBytes !== undefined && { keyBytes }),
    ...(stringBytes !== undefined && { stringBytes }),
  };
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

/** A connection is dropped at this many times `buffer_bytes`. */
const GIVEN_UP = 32;
