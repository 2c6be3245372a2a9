import { createPublicKey, type KeyObject } from 'node:crypto';
import { DATA_LIMITS, type Json, LONG_TEXT } from '@dragoman/protocols';
import {
  type A2AMessage,
  a2aMessagesDialect,
  MAX_MESSAGE_BYTES,
  signedContent,
} from '@dragoman/protocols/a2a-messages';
import { atMost } from '../json/json-size.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import { fingerprintOf } from '../signing/public-keys.ts';
import type { Signatures } from '../signing/signatures.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';

export interface MessageSignerOptions {
  readonly key: KeyObject;
  readonly signatures: Signatures;
  readonly reader?: JsonReader;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Signs the messages of this server and of its agents: all of them use one key. */
export class MessageSigner {
  /** SPKI PEM. */
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly #key: KeyObject;
  readonly #signatures: Signatures;
  readonly #reader: JsonReader;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor({ key, signatures, reader = new JsonReader(), clock, ids }: MessageSignerOptions) {
    this.#key = key;
    this.#signatures = signatures;
    this.#reader = reader;
    this.#ids = ids;
    this.#clock = clock;
    const publicKey = createPublicKey(key);
    this.publicKey = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    this.fingerprint = fingerprintOf(publicKey);
  }

  /** The message with the current time, signed. An earlier answer that is sent again gets a new time too. */
  async sign<Message extends A2AMessage>(message: Message): Promise<Message> {
    const timestamp = this.#clock.now().toISOString();
    const auth = {
      agent_id: message.sender_id,
      timestamp,
      nonce: this.#ids.hex(),
      signature: NO_SIGNATURE,
      public_key_fingerprint: this.fingerprint,
    };
    const sent = { ...message, timestamp, auth };
    const isLong = atMost(sent as unknown as Json, LONG_TEXT) >= LONG_TEXT;
    const content = isLong ? await this.#longContent(sent) : shortContent(sent);
    if (Buffer.byteLength(content) + SIGNATURE_BYTES > MAX_MESSAGE_BYTES) {
      refuse('agent_failed', {}, 'The answer of the agent exceeds the message limit of 10 MB.');
    }
    const signature = await this.#signatures.sign(this.#key, content);
    auth.signature = signature;
    return sent;
  }

  /** The signed content of a long message, computed in the thread that does so for received messages. */
  async #longContent(message: A2AMessage): Promise<Uint8Array> {
    const text = JSON.stringify(a2aMessagesDialect.encode(message));
    const limits = { ...DATA_LIMITS, depth: 1_000, numbers: 'finite' } as const;
    const checked = await this.#reader.checkMessage(text, this.#clock.now(), { caller: 'server', waits: true, limits });
    if ('signed' in checked) return checked.signed.bytes;
    const [issue] = 'issues' in checked ? checked.issues : checked.invalid;
    throw new Error(`a message of this server cannot be signed: ${issue?.pointer} ${issue?.message}`);
  }
}

function shortContent(message: A2AMessage): string {
  const content = signedContent(message);
  if (!content.ok) throw new Error('a message of this server has no canonical form');
  return content.value.text;
}

/** A placeholder, replaced by the signature, which does not cover its own member. */
const NO_SIGNATURE = 'AAAA';

/** The most bytes of a signature with its member name. The longest signature is RSA with 8192 bits. */
const SIGNATURE_BYTES = 2048;
