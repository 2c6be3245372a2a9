import { type KeyObject, verify } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { schemeOf } from './key-kinds.ts';
import { signatureOf } from './private-key.ts';

/**
 * `keys` has the keys that the thread does not know yet. `jobs` is a flat list; each job is the number of a key, a
 * content, and the signature to check or, to make a signature, null.
 */
export interface ToSignatureThread {
  readonly keys: [number: number, key: KeyObject][];
  readonly jobs: (number | string | Uint8Array | null)[];
}

/** The answer to each job: whether the signature is good, or the signature. */
export type FromSignatureThread = readonly (boolean | string)[];

// The thread that checks and makes signatures.

if (parentPort === null) throw new Error('signature-thread.ts runs in a worker only');
const port = parentPort;
const known = new Map<number, KeyObject>();

port.on('message', ({ keys, jobs }: ToSignatureThread) => {
  for (const [number, key] of keys) known.set(number, key);
  const answers: (boolean | string)[] = [];
  for (let at = 0; at < jobs.length; at += 3) {
    const key = known.get(Number(jobs[at]));
    const [content, signature] = [jobs[at + 1], jobs[at + 2]];
    const text = Buffer.from(content instanceof Uint8Array ? content : String(content));
    if (key === undefined) throw new Error(`there is no key ${jobs[at]}`);
    answers.push(typeof signature === 'string' ? isGood(key, text, signature) : signatureOf(key, text));
  }
  port.postMessage(answers satisfies FromSignatureThread);
});

function isGood(key: KeyObject, text: Buffer, signature: string): boolean {
  const { digest, options } = schemeOf(key);
  try {
    return verify(digest, text, { key, ...options }, Buffer.from(signature, 'base64'));
  } catch {
    // An unreadable signature is invalid.
    return false;
  }
}
