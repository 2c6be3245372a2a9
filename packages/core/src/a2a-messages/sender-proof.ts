import { generateKeyPairSync, hash } from 'node:crypto';
import { type Failure, failure } from '@dragoman/protocols';
import {
  type A2AMessage,
  type AuthenticationTag,
  checkFreshness,
  type SignedContent,
  signedContent,
} from '@dragoman/protocols/a2a-messages';
import type { Clock } from '../ports.ts';
import type { Principal } from '../principal.ts';
import type { Callers } from '../registry/callers.ts';
import { fingerprintOf, isSignedBy, type PublicKey, publicKeysIn } from '../signing/public-keys.ts';
import type { NonceRow, NonceStore } from '../store/store.ts';

export interface SenderProofOptions {
  readonly callers: Callers;
  readonly nonces: NonceStore;
  readonly clock: Clock;
  /** A key alone is not enough: every message must be signed. */
  readonly requireSignatures: boolean;
}

/** Who sent a message, as it was proven. */
export interface Proof {
  readonly principal: Principal;
  /** Of a signed message: still to be recorded, together with what the message does. */
  readonly nonce?: NonceRow;
  /** The key it was signed with. */
  readonly fingerprint?: string;
}

/** What is known of the sender before the message is looked at. */
export interface Known {
  /** Who the API key of the connection says. */
  readonly principal?: Principal;
  /** Who signed on this connection before, and with which key. */
  readonly signer?: { readonly agentId: string; readonly fingerprint: string };
}

/**
 * Finds out who sent a message, each step cheaper than the next: whose key, whose name, which time, whose signature. The
 * nonce is left for last, and for others, so that a forged message uses up none.
 */
export class SenderProof {
  readonly #callers: Callers;
  readonly #nonces: NonceStore;
  readonly #clock: Clock;
  readonly #requireSignatures: boolean;
  readonly #keys = new Map<string, { readonly pem: string; readonly keys: readonly PublicKey[] }>();
  #verifying = 0;
  /** The latest time at which a signed message was taken. A clock that is set back does not make old ones new again. */
  #latest = 0;

  constructor({ callers, nonces, clock, requireSignatures }: SenderProofOptions) {
    this.#callers = callers;
    this.#nonces = nonces;
    this.#clock = clock;
    this.#requireSignatures = requireSignatures;
  }

  async load(): Promise<void> {
    this.#latest = await this.#nonces.latest();
  }

  /** Forgets nonces of messages that are too old to be taken again. */
  async purge(): Promise<void> {
    await this.#nonces.purge(this.#now() - KEEP_NONCES_MS);
  }

  async of(message: A2AMessage, { principal, signer }: Known): Promise<Proof | Failure> {
    // The key is the identity; only an operator speaks for others.
    if (principal?.role === 'agent' && principal.id !== message.sender_id) return failure('forbidden');
    if (message.auth !== undefined) return this.#signed(message, message.auth);
    if (this.#requireSignatures) return failure('unauthenticated');
    const known = principal ?? this.#remembered(signer, message.sender_id);
    if (known === undefined) return failure('unauthenticated');
    if (isNotFailure(known)) return freshOr(message, this.#clock.now()) ?? { principal: known };
    return known;
  }

  async #signed(message: A2AMessage, auth: AuthenticationTag): Promise<Proof | Failure> {
    const { sender_id: sender } = message;
    const named = auth.public_key_fingerprint;
    // A hint which key to try; the key itself is always one the operator has put down for this agent.
    const keys = this.#keysOf(sender).filter(({ fingerprint }) => named === undefined || fingerprint === named);
    const issue = freshOr(message, new Date(this.#now()));
    if (keys.length > 0 && issue !== undefined) return issue;
    const content = signedContent(message);
    if (!content.ok) return failure('invalid_message', { issues: content.issues });
    if (this.#verifying >= MOST_VERIFYING) return failure('busy', { retry_after: 1 });
    // An unknown agent costs as much as a wrong signature, so that nobody learns which of the two it was.
    const key = await this.#signerOf(content.value, auth.signature, keys.length > 0 ? keys : [NOBODY]);
    const principal = this.#callers.named(sender);
    if (key === undefined || principal === undefined) return failure('unauthenticated');
    const now = this.#clock.now().getTime();
    this.#latest = Math.max(this.#latest, now);
    const digest = hash('sha256', content.value.text, 'base64url');
    return {
      principal,
      fingerprint: key.fingerprint,
      nonce: { agentId: sender, nonce: auth.nonce, digest, usedAt: this.#latest },
    };
  }

  async #signerOf(
    content: SignedContent,
    signature: string,
    keys: readonly PublicKey[],
  ): Promise<PublicKey | undefined> {
    const bytes = Buffer.from(signature, 'base64');
    this.#verifying += 1;
    try {
      for (const key of keys) if (await isSignedBy(key, content.bytes, bytes)) return key;
      return undefined;
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

  /** Who has signed on this connection may go on without, in the same name and as long as its key is good. */
  #remembered(signer: Known['signer'], sender: string): Principal | Failure | undefined {
    if (signer === undefined) return undefined;
    if (signer.agentId !== sender) return failure('forbidden');
    const isGood = this.#keysOf(sender).some(({ fingerprint }) => fingerprint === signer.fingerprint);
    return isGood ? this.#callers.named(sender) : undefined;
  }

  #now(): number {
    return Math.max(this.#clock.now().getTime(), this.#latest);
  }
}

function freshOr(message: A2AMessage, now: Date): Failure | undefined {
  const issues = checkFreshness(message, now);
  return issues.length === 0 ? undefined : failure('invalid_message', { issues }, issues[0]?.message);
}

function isNotFailure(value: Principal | Failure): value is Principal {
  return 'permissions' in value;
}

/** A key nobody has. */
const NOBODY: PublicKey = (() => {
  const { publicKey: key } = generateKeyPairSync('ed25519');
  return { key, fingerprint: fingerprintOf(key) };
})();

/** Beyond that, whoever floods us with signatures keeps the others waiting. */
const MOST_VERIFYING = 512;

/** The five minutes back and one ahead in which a message is taken, with a good measure of doubt about clocks. */
const KEEP_NONCES_MS = 15 * 60_000;
