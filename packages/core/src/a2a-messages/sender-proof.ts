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
  /** A key alone is not enough: every message must be signed. */
  readonly requireSignatures: boolean;
  /** Nonces that are kept at most: who comes then is refused, because to forget one would make a replay good again. */
  readonly mostNonces?: number;
  /** How far the times of a message may be from ours. Default: as the spec has it. */
  readonly window?: FreshnessWindow;
}

/** Who sent a message, as it was proven. */
export interface Proof {
  readonly principal: Principal;
  /** Of a signed message: still to be recorded, together with what the message does. */
  readonly nonce?: NonceRow;
  /** The key it was signed with. */
  readonly fingerprint?: string;
}

/**
 * Finds out who sent a message, each step cheaper than the next: whose key, whose name, which time, whose signature. The
 * nonce is left for last, and for others, so that a forged message uses up none.
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
  /** The latest use of the nonces that were forgotten: when the clock is set back, no message from before then is accepted. */
  #forgotten = 0;
  /** How many nonces are kept, or a few more: a replay counts until the next look. */
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

  /** Forgets nonces of messages that are too old to be accepted again. */
  async purge(): Promise<void> {
    const { past, future } = this.#window;
    await this.#nonces.purge(this.#clock.now().getTime() - past - future - DOUBT_MS);
    await this.load();
  }

  /** `known`: who the API key says. `signed`: what the signature covers, where that was worked out already. */
  async of(
    message: A2AMessage,
    { known, signed }: { readonly known?: Principal | undefined; readonly signed?: SignedBytes | undefined } = {},
  ): Promise<Proof | Failure> {
    // The key is the identity; only an operator speaks for others.
    if (known?.kind === 'agent' && known.id !== message.sender_id) {
      const suggestions = [`this key belongs to ${JSON.stringify(known.id)}: set sender_id to it`];
      return failure('forbidden', { sender_id: known.id, suggestions });
    }
    if (message.auth !== undefined) return this.#signed(message, message.auth, signed);
    if (this.#requireSignatures || known === undefined) return failure('unauthenticated');
    return this.#freshOr(message, this.#window) ?? { principal: known };
  }

  /** Whether an agent's key is good still. */
  isGood(agentId: string, fingerprint: string): boolean {
    return this.#keysOf(agentId).some((key) => key.fingerprint === fingerprint);
  }

  async #signed(message: A2AMessage, auth: AuthenticationTag, signed?: SignedBytes): Promise<Proof | Failure> {
    const { sender_id: sender } = message;
    const named = auth.public_key_fingerprint;
    // A hint which key to try; the key itself is always one the operator has put down for this agent.
    const keys = this.#keysOf(sender).filter(({ fingerprint }) => named === undefined || fingerprint === named);
    // The same for everybody: else an old message would tell which agents there are.
    const issue = this.#freshOr(message, this.#signedWindow());
    if (issue !== undefined) return issue;
    if (this.#verifying >= MOST_VERIFYING) return failure('busy', { retry_after: 1 });
    const content = signed === undefined ? signedContent(message) : accept({ text: signed.bytes });
    if (!content.ok) return failure('invalid_message', { issues: content.issues });
    const { text } = content.value;
    const key = await this.#signerOf(text, auth.signature, keys);
    const principal = this.#callers.named(sender);
    // Asked again: the key may have been taken away meanwhile.
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
      // An unknown agent, or one with a key of a quicker kind, costs as much as a wrong signature: nobody learns which it was.
      if (at === -1 && !keys.some(isLikeNobody)) await this.#signatures.verify(NOBODY, text, signature);
      return keys[at];
    } finally {
      this.#verifying -= 1;
    }
  }

  /** The keys administration has put down for an agent, now: a key that is taken away is worth nothing at once. */
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

  /** A forgotten nonce was of a message that is at most `future` later than its use. */
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

function isLikeNobody({ key }: PublicKey): boolean {
  return key.asymmetricKeyType === NOBODY.key.asymmetricKeyType;
}

/** A key nobody has. */
const NOBODY: PublicKey = (() => {
  const { publicKey: key } = generateKeyPairSync('ed25519');
  return { key, fingerprint: fingerprintOf(key) };
})();

/** Beyond that, whoever floods us with signatures keeps the others waiting. */
const MOST_VERIFYING = 512;

/** Some 150 MB on disk. */
const MOST_NONCES = 1_000_000;
const FULL = 'As many signed messages as can be told from replays have come; older ones are forgotten soon.';

/** A nonce is kept for as long as its message would be taken, and with a good measure of doubt about clocks. */
const DOUBT_MS = 9 * 60_000;
