import { generateKeyPairSync, hash } from 'node:crypto';
import { accept, type Failure, failure } from '@dragoman/protocols';
import {
  type A2AMessage,
  type AuthenticationTag,
  checkFreshness,
  FRESHNESS_WINDOW,
  type FreshnessWindow,
  signedContent,
} from '@dragoman/protocols/a2a-messages';
import type { Principal } from '../call/principal.ts';
import type { Callers } from '../callers/callers.ts';
import type { Clock } from '../ports/ports.ts';
import { fingerprintOf, type PublicKey, publicKeysIn } from '../signing/public-keys.ts';
import type { Signatures } from '../signing/signatures.ts';
import type { NonceRow, NonceStore } from '../store/store.ts';
import type { SignedBytes } from '../worker-threads/json-thread.ts';

export interface SenderProofOptions {
  readonly callers: Callers;
  readonly nonces: NonceStore;
  readonly signatures: Signatures;
  readonly clock: Clock;
  /** Every message must be signed: an API key alone is not enough. */
  readonly requireSignatures: boolean;
  /** The maximum number of nonces. Further messages are refused, because dropping a nonce would allow a replay. */
  readonly mostNonces?: number;
  /** How far the time of a message may differ from the local clock. Default: the window of the specification. */
  readonly window?: FreshnessWindow;
}

/** The proven sender of a message. */
export interface Proof {
  readonly principal: Principal;
  /** The nonce of a signed message, to be recorded together with the effect of the message. */
  readonly nonce?: NonceRow;
  /** The fingerprint of the key that signed the message. */
  readonly fingerprint?: string;
}

/**
 * Proves the sender of a message, cheapest check first: API key, sender id, time, signature. The nonce is recorded
 * later, by the caller of this class, so that a forged message uses up no nonce.
 */
export class SenderProof {
  readonly #callers: Callers;
  readonly #nonces: NonceStore;
  readonly #signatures: Signatures;
  readonly #clock: Clock;
  readonly #requireSignatures: boolean;
  readonly #mostNonces: number;
  readonly #window: FreshnessWindow;
  readonly #keys = new Map<string, { readonly pem: string; readonly keys: readonly PublicKey[] }>();
  #verifying = 0;
  /** When a deleted nonce was last used. No message from before is accepted, even if the clock is set back. */
  #forgotten = 0;
  /** The number of nonces, or a few more, because replays are counted until the next purge. */
  #kept = 0;

  constructor(options: SenderProofOptions) {
    this.#callers = options.callers;
    this.#nonces = options.nonces;
    this.#signatures = options.signatures;
    this.#clock = options.clock;
    this.#requireSignatures = options.requireSignatures;
    this.#mostNonces = options.mostNonces ?? MOST_NONCES;
    this.#window = options.window ?? FRESHNESS_WINDOW;
  }

  async load(): Promise<void> {
    this.#forgotten = await this.#nonces.forgotten();
    this.#kept = await this.#nonces.count();
  }

  /** Deletes nonces of messages that are too old to be accepted again. */
  async purge(): Promise<void> {
    const { past, future } = this.#window;
    await this.#nonces.purge(this.#clock.now().getTime() - past - future - DOUBT_MS);
    await this.load();
  }

  /** `known`: the caller that the API key proves. `signed`: the signed content, if it is computed already. */
  async of(
    message: A2AMessage,
    { known, signed }: { readonly known?: Principal | undefined; readonly signed?: SignedBytes | undefined } = {},
  ): Promise<Proof | Failure> {
    // The key is the identity; only an operator may send in other names.
    if (known?.kind === 'agent' && known.id !== message.sender_id) {
      const suggestions = [`this key belongs to ${JSON.stringify(known.id)}: set sender_id to it`];
      return failure('forbidden', { sender_id: known.id, suggestions });
    }
    if (message.auth !== undefined) return this.#signed(message, message.auth, signed);
    if (this.#requireSignatures || known === undefined) return failure('unauthenticated');
    return this.#freshOr(message, this.#window) ?? { principal: known };
  }

  /** Whether an agent's key is still valid. */
  isGood(agentId: string, fingerprint: string): boolean {
    return this.#keysOf(agentId).some((key) => key.fingerprint === fingerprint);
  }

  async #signed(message: A2AMessage, auth: AuthenticationTag, signed?: SignedBytes): Promise<Proof | Failure> {
    const { sender_id: sender } = message;
    const named = auth.public_key_fingerprint;
    // The message only hints which key to try; the key itself is always one that the operator has set for this agent.
    const keys = this.#keysOf(sender).filter(({ fingerprint }) => named === undefined || fingerprint === named);
    // Also checked for unknown senders: otherwise an old message would show which agents exist.
    const issue = this.#freshOr(message, this.#signedWindow());
    if (issue !== undefined) return issue;
    if (this.#verifying >= MOST_VERIFYING) return failure('busy', { retry_after: 1 });
    const content = signed === undefined ? signedContent(message) : accept({ text: signed.bytes });
    if (!content.ok) return failure('invalid_message', { issues: content.issues });
    const { text } = content.value;
    const key = await this.#signerOf(text, auth.signature, keys);
    const principal = this.#callers.named(sender);
    // Checked again: the key may have been removed in the meantime.
    if (key === undefined || principal === undefined || !this.isGood(sender, key.fingerprint)) {
      return failure('unauthenticated');
    }
    if (this.#kept >= this.#mostNonces) return failure('busy', { retry_after: 60 }, FULL);
    this.#kept += 1;
    const digest = signed?.digest ?? hash('sha256', text, 'base64url');
    return {
      principal,
      fingerprint: key.fingerprint,
      nonce: { agentId: sender, nonce: auth.nonce, digest, usedAt: this.#clock.now().getTime() },
    };
  }

  async #signerOf(
    text: string | Uint8Array,
    signature: string,
    keys: readonly PublicKey[],
  ): Promise<PublicKey | undefined> {
    this.#verifying += 1;
    try {
      const verdicts = await Promise.all(keys.map((key) => this.#signatures.verify(key, text, signature)));
      const at = verdicts.indexOf(true);
      // Constant cost: for an unknown agent, or a key of a faster kind, a dummy check hides which of these it was.
      if (at === -1 && !keys.some(isSlowest)) await this.#signatures.verify(DUMMY_KEY, text, signature);
      return keys[at];
    } finally {
      this.#verifying -= 1;
    }
  }

  /** The current keys of an agent: a removed key is invalid at once. */
  #keysOf(agentId: string): readonly PublicKey[] {
    const pem = this.#callers.find(agentId)?.public_key;
    if (pem === undefined) {
      this.#keys.delete(agentId);
      return [];
    }
    const known = this.#keys.get(agentId);
    if (known?.pem === pem) return known.keys;
    const keys = publicKeysIn(pem);
    this.#keys.set(agentId, { pem, keys });
    return keys;
  }

  /** Excludes messages whose nonces may be deleted: their time is at most `future` after the use of the nonce. */
  #signedWindow(): FreshnessWindow {
    const { past, future } = this.#window;
    const sinceForgotten = this.#clock.now().getTime() - (this.#forgotten + future);
    return { ...this.#window, past: Math.min(past, sinceForgotten - 1) };
  }

  #freshOr(message: A2AMessage, window: FreshnessWindow): Failure | undefined {
    const issues = checkFreshness(message, this.#clock.now(), window);
    return issues.length === 0 ? undefined : failure('invalid_message', { issues }, issues[0]?.message);
  }
}

function isSlowest({ key }: PublicKey): boolean {
  return key.asymmetricKeyType === DUMMY_KEY.key.asymmetricKeyType;
}

/** A key whose private half is not kept. */
const DUMMY_KEY: PublicKey = (() => {
  const { publicKey: key } = generateKeyPairSync('ed25519');
  return { key, fingerprint: fingerprintOf(key) };
})();

/** Limits concurrent checks, so that a flood of signatures does not delay other callers. */
const MOST_VERIFYING = 512;

/** About 150 MB on disk. */
const MOST_NONCES = 1_000_000;
const FULL = 'Too many signed messages to detect replays; try again later.';

/** A nonce is kept as long as its message could be accepted, plus this margin for clock errors. */
const DOUBT_MS = 9 * 60_000;
