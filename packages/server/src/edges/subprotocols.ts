import { type Failure, failure } from '@dragoman/protocols';

/** The subprotocols that a peer offers in `Sec-WebSocket-Protocol`. */
export interface Offer {
  /** The chosen subprotocol; `undefined` if this endpoint has none or the peer offers none. */
  readonly subprotocol: string | undefined;
  /** The key that stands among the subprotocols. */
  readonly key: string | undefined;
}

/**
 * Reads the list of subprotocols. This is the only WebSocket header that a browser can set, so a key may be in it, as
 * `key.` and the key in base64url (RFC 4648 §5). The caller is then known before the connection is open, as with every
 * other client. The answer never repeats the key.
 */
export function readOffer(header: string | undefined, supported: readonly string[]): Offer | Failure {
  if (header === undefined) return NOTHING;
  const offered = header.split(',').map((name) => name.trim());
  const keys = offered.filter((name) => name.startsWith(KEY_MARK));
  if (keys.length > 1) return failure('unauthenticated', {}, 'Sec-WebSocket-Protocol has more than one API key.');
  const key = keys[0] === undefined ? undefined : Buffer.from(keys[0].slice(KEY_MARK.length), 'base64url').toString();
  if (supported.length === 0) return { subprotocol: undefined, key };
  const subprotocol = supported.find((name) => offered.includes(name));
  if (subprotocol !== undefined) return { subprotocol, key };
  const suggestions = supported.map((name) => `Sec-WebSocket-Protocol: ${name}`);
  return failure('invalid_message', { suggestions }, 'This route speaks none of the subprotocols offered.');
}

const KEY_MARK = 'key.';
const NOTHING: Offer = { subprotocol: undefined, key: undefined };
