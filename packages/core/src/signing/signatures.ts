import type { KeyObject } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
import { startThread } from '../worker-threads/start-thread.ts';
import { signedBy } from './private-key.ts';
import { isSignedBy, type PublicKey } from './public-keys.ts';
import type { FromSignatureThread, ToSignatureThread } from './signature-thread.ts';

/**
 * Checks and makes signatures without blocking the event loop. Those of quick kinds go to one thread, in one message
 * for each turn of the event loop, because handing each of them to Node's pool takes more than half as long as checking
 * it. RSA is slow, so it goes to the pool, where no quick signature waits for it.
 *
 * The thread starts with the first signature. Each key is sent to it once and then named by a number, because sending a
 * key takes as long as using it.
 */
export class Signatures {
  #worker: Worker | undefined;
  #keys = new WeakMap<KeyObject, number>();
  #keyCount = 0;
  #next: ToSignatureThread = emptyMessage();
  /** The callers of the jobs in the next message. */
  #asking: Pending[] = [];
  /** The callers of each message sent, in order: the thread answers in that order. */
  readonly #sent: Pending[][] = [];

  /** Whether a signature, in base64, is this key's. */
  async verify(key: PublicKey, text: string | Uint8Array, signature: string): Promise<boolean> {
    if (!isQuick(key.key)) return isSignedBy(key, Buffer.from(text), Buffer.from(signature, 'base64'));
    return (await this.#ask(key.key, text, signature)) === true;
  }

  /** The signature of a text, in base64. */
  async sign(key: KeyObject, text: string | Uint8Array): Promise<string> {
    if (!isQuick(key)) return (await signedBy(key, Buffer.from(text))).toString('base64');
    return String(await this.#ask(key, text, null));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    this.#lose(new Error('signatures are no longer made: the server has stopped'));
    await worker?.terminate();
  }

  #ask(key: KeyObject, text: string | Uint8Array, signature: string | null): Promise<boolean | string> {
    const number = this.#numberOf(key);
    // At the end of this turn of the event loop, or when a batch is full.
    if (this.#asking.length === 0) setImmediate(() => this.#flush());
    this.#next.jobs.push(number, text, signature);
    const answer = new Promise<boolean | string>((resolve, reject) => this.#asking.push({ resolve, reject }));
    if (this.#asking.length === MANY) this.#flush();
    return answer;
  }

  #numberOf(key: KeyObject): number {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    if (this.#keyCount === MOST_KEYS) {
      this.#flush();
      this.#keys = new WeakMap();
      this.#keyCount = 0;
    }
    const number = this.#keyCount++;
    this.#keys.set(key, number);
    this.#next.keys.push([number, key]);
    return number;
  }

  #flush(): void {
    if (this.#asking.length === 0) return;
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(this.#next);
    this.#sent.push(this.#asking);
    this.#next = emptyMessage();
    this.#asking = [];
  }

  #start(): Worker {
    const worker = startThread('signature-thread', { name: 'dragoman signatures' });
    worker.on('message', (answers: FromSignatureThread) => {
      const pending = this.#sent.shift() ?? [];
      if (this.#sent.length === 0) worker.unref();
      for (const [at, { resolve }] of pending.entries()) resolve(answers[at] ?? false);
    });
    worker.on('error', (error) => this.#lose(error));
    return worker;
  }

  /** Rejects all waiting callers. The next caller starts a new thread. */
  #lose(error: Error): void {
    this.#worker = undefined;
    this.#keys = new WeakMap();
    this.#keyCount = 0;
    this.#next = emptyMessage();
    for (const { reject } of [...this.#sent.splice(0).flat(), ...this.#asking.splice(0)]) reject(error);
  }
}

interface Pending {
  readonly resolve: (answer: boolean | string) => void;
  readonly reject: (error: Error) => void;
}

function isQuick({ asymmetricKeyType: type }: KeyObject): boolean {
  return type === 'ed25519' || type === 'ec';
}

function emptyMessage(): ToSignatureThread {
  return { keys: [], jobs: [] };
}

/** Jobs per batch. */
const MANY = 12;

/** The thread keeps so many keys. Then their numbers are used again from 0. */
const MOST_KEYS = 1000;
