import { randomHex } from './random-hex.ts';

/** A new id for a request. It is made here, before anything is sent, so that a repeat of the request is known as one. */
export function newRequestId(): string {
  return `req_${randomHex(16)}`;
}
