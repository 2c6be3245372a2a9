import { createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { type A2AMessage, signedContent } from '@dragoman/protocols/a2a-messages';
import type { Clock } from '../ports.ts';
import { fingerprintOf } from '../signing/public-keys.ts';

/** Signs what this server says, in its own name and in those of its agents: all of them answer with one key. */
export class MessageSigner {
  /** SPKI PEM. */
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly #key: KeyObject;
  readonly #clock: Clock;

  constructor({ key, clock }: { key: KeyObject; clock: Clock }) {
    this.#key = key;
    this.#clock = clock;
    const publicKey = createPublicKey(key);
    this.publicKey = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    this.fingerprint = fingerprintOf(publicKey);
  }

  /** The message as it leaves, sent and signed now: an answer that was given before is sent again, with the time of that. */
  async sign<Message extends A2AMessage>(message: Message): Promise<Message> {
    const timestamp = this.#clock.now().toISOString();
    const auth = {
      agent_id: message.sender_id,
      timestamp,
      nonce: randomBytes(16).toString('hex'),
      signature: '',
      public_key_fingerprint: this.fingerprint,
    };
    const sent = { ...message, timestamp, auth };
    const content = signedContent(sent);
    if (!content.ok) throw new Error('a message of ours has no canonical form');
    return { ...sent, auth: { ...auth, signature: await this.#signatureOf(content.value.bytes) } };
  }

  #signatureOf(bytes: Uint8Array): Promise<string> {
    return new Promise((resolve, reject) => {
      sign(null, bytes, this.#key, (error, signature) =>
        error === null ? resolve(signature.toString('base64')) : reject(error),
      );
    });
  }
}
