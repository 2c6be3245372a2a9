import type { SenderProof } from '@dragoman/core';
import type { BodyProof } from '../http/route.ts';

/**
 * Looks for a known agent's id and the fingerprint of one of its keys at the beginning of an A2A message. Anyone who
 * knows both can send them, so they only raise the size limit; the signature is checked later.
 */
export function senderInStart(proof: Pick<SenderProof, 'isGood'>): BodyProof {
  return {
    isIn: (start) => {
      const text = Buffer.from(start.buffer, start.byteOffset, start.length).toString('latin1');
      const sender = SENDER.exec(text)?.[1];
      const fingerprint = FINGERPRINT.exec(text)?.[1];
      return sender !== undefined && fingerprint !== undefined && proof.isGood(sender, fingerprint);
    },
    suggestion:
      'Or send sender_id and auth, with the public_key_fingerprint of your registered key, before payload: a signed message may then be as large.',
  };
}

/** An id and a fingerprint are ASCII, so they need no escapes in JSON. */
const SENDER = /"sender_id"[ \t\r\n]{0,16}:[ \t\r\n]{0,16}"([A-Za-z0-9-]{1,128})"/;
const FINGERPRINT = /"public_key_fingerprint"[ \t\r\n]{0,16}:[ \t\r\n]{0,16}"(sha256:[0-9a-f]{64})"/;
