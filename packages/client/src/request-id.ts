import { randomHex } from './random-hex.ts';

/** A new request id, created before anything is sent, so that a repeat is recognized. */
export function newRequestId(): string {
  return `req_${randomHex(16)}`;
}
