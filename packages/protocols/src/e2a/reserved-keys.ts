/** A whole legacy unary response, stashed in a response's `metadata`. */
export const LEGACY_RESPONSE_KEY = '_e2a_wire_legacy_agent_response';

/** A whole legacy chunk, stashed in a response's `metadata`. */
export const LEGACY_CHUNK_KEY = '_e2a_wire_legacy_agent_chunk';

/** In a response's `metadata`: the frame is pushed by the server and answers no request. */
export const SERVER_PUSH_KEY = '_jiuwenswarm_server_push';

/** In `metadata`: why the Gateway itself cancelled. */
export const CANCEL_SOURCE_KEY = '_jiuwenswarm_cancel_source';

/** Keys that only a server may set. They are not accepted from requests and not forwarded to channels. */
export const RESERVED_METADATA_KEYS: readonly string[] = [
  LEGACY_RESPONSE_KEY,
  LEGACY_CHUNK_KEY,
  SERVER_PUSH_KEY,
  CANCEL_SOURCE_KEY,
];

/** In `channel_context`: the Gateway's data about a message that it could not normalise. */
export const FALLBACK_CONTEXT_KEY = '_jiuwenswarm';

export function hasReservedKey(value: object): boolean {
  return RESERVED_METADATA_KEYS.some((key) => Object.hasOwn(value, key));
}
