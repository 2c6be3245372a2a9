import { type Failure, failure } from '@dragoman/protocols';

/** What a peer offers in `Sec-WebSocket-Protocol`. */
export interface Offer {
  /** The one to speak; `undefined` when none is spoken here or the peer offers none. */
  readonly subprotocol: string | undefined;
  /** The key that came with them. */
  readonly key: string | undefined;
}

/**
 * Reads the list of subprotocols. A browser can set no header of a WebSocket but this one, so a key may stand in it, as
 * `key.` and the key in base64url (RFC 4648 §5): then it is known who calls before the connection is open, and who may
 * not gets no connection, as with every other client. The answer never repeats it.
 */
export function readOffer(header: string | undefined, spoken: readonly string[]): Offer | Failure {
  if (header === undefined) return NOTHING;
  const offered = header.split(',').map((name) => name.trim());
  const keys = offered.filter((name) => name.startsWith(KEY_MARK));
  if (keys.length > 1) return failure('unauthenticated', {}, 'Sec-WebSocket-Protocol holds more than one key.');
  const key = keys[0] === undefined ? undefined : Buffer.from(keys[0].slice(KEY_MARK.length), 'base64url').toString();
  if (spoken.length === 0) return { subprotocol: undefined, key };
  const subprotocol = spoken.find((name) => offered.includes(name));
  if (subprotocol !== undefined) return { subprotocol, key };
  const suggestions = spoken.map((name) => `Sec-WebSocket-Protocol: ${name}`);
  return failure('invalid_message', { suggestions }, 'This route speaks none of the subprotocols offered.');
}

const KEY_MARK = 'key.';
const NOTHING: Offer = { subprotocol: undefined, key: undefined };
