import { UUID_V4 } from './fields.ts';

/** Whether A2A accepts a `message_id`: a version 4 UUID in lower case. */
export function isMessageId(text: unknown): text is string {
  return typeof text === 'string' && UUID.test(text);
}

/** A `message_id` from 32 random hex digits; six bits are replaced by the version and the variant. */
export function messageIdFrom(hex: string): string {
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * The `message_id` for an id of another protocol. It is deterministic, so that an answer converted twice is the same
 * message. It is neither secret nor a proof: anyone can compute it.
 */
export function derivedMessageId(text: string): string {
  return messageIdFrom(hash128(text));
}

/** Four 32-bit lanes that feed each other, each multiplied by its own odd constant; 32 hex digits. */
function hash128(text: string): string {
  let a = 0x6a09e667;
  let b = 0xbb67ae85;
  let c = 0x3c6ef372;
  let d = 0xa54ff53a;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = b ^ Math.imul(a ^ unit, 0x239b961b);
    b = c ^ Math.imul(b ^ unit, 0xab0e9789);
    c = d ^ Math.imul(c ^ unit, 0x38b34ae5);
    d = a ^ Math.imul(d ^ unit, 0xa1e38b93);
  }
  const lanes = [mixed(a ^ text.length), mixed(b ^ a), mixed(c ^ b), mixed(d ^ c)];
  return lanes.map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
}

/** Spreads every bit over the whole lane. */
function mixed(lane: number): number {
  let bits = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

const UUID = new RegExp(UUID_V4);
