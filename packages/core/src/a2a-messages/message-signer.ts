import { createPublicKey, type KeyObject } from 'node:crypto';
import { formatTimestamp } from '@dragoman/protocols';
import { type A2AMessage, MAX_MESSAGE_BYTES, signedContent } from '@dragoman/protocols/a2a-messages';
import type { Clock, Ids } from '../ports.ts';
import { refuse } from '../refused.ts';
import { fingerprintOf } from '../signing/public-keys.ts';
import type { Signatures } from '../signing/signatures.ts';

export interface MessageSignerOptions {
  readonly key: KeyObject;
  readonly signatures: Signatures;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Signs what this server says, in its own name and in those of its agents: all of them answer with one key. */
export class MessageSigner {
  /** SPKI PEM. */
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly #key: KeyObject;
  readonly #signatures: Signatures;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor({ key, signatures, clock, ids }: MessageSignerOptions) {
    this.#key = key;
    this.#signatures = signatures;
    this.#ids = ids;
    this.#clock = clock;
    const publicKey = createPublicKey(key);
    this.publicKey = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    this.fingerprint = fingerprintOf(publicKey);
  }

  /** The message as it leaves, sent and signed now: an answer that was given before is sent again, with the time of that. */
  async sign<Message extends A2AMessage>(message: Message): Promise<Message> {
    const timestamp = formatTimestamp(this.#clock.now());
    const auth = {
      agent_id: message.sender_id,
      timestamp,
      nonce: this.#ids.hex(),
      signature: '',
      public_key_fingerprint: this.fingerprint,
    };
    const sent = { ...message, timestamp, auth };
    const content = signedContent(sent);
    if (!content.ok) throw new Error('a message of ours has no canonical form');
    if (Buffer.byteLength(content.value.text) + SIGNATURE_BYTES > MAX_MESSAGE_BYTES) {
      refuse('agent_failed', {}, 'What the agent says is larger than the 10 MB a message may have.');
    }
    const signature = await this.#signatures.sign(this.#key, content.value.text);
    auth.signature = signature;
    return sent;
  }
}

/** With its name; the longest is one of RSA with 8192 bits. */
const SIGNATURE_BYTES = 2048;
