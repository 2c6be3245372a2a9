import type { SenderProof } from '@dragoman/core';
import type { BodyProof } from '../http/route.ts';

/**
 * A known agent's id together with the fingerprint of one of its keys, in the beginning of an A2A message. Anyone who knows both
 * can send them: they only decide how much is read, and the signature decides the rest.
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

/** Both are ASCII without escapes. */
const SENDER = /"sender_id"[ \t\r\n]{0,16}:[ \t\r\n]{0,16}"([A-Za-z0-9-]{1,128})"/;
const FINGERPRINT = /"public_key_fingerprint"[ \t\r\n]{0,16}:[ \t\r\n]{0,16}"(sha256:[0-9a-f]{64})"/;
