import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Json } from '@dragoman/protocols';

/** Signs lists of values that pass through a client, so that only a server with the same key can make them. */
export class Seals {
  readonly #key: Buffer;

  /** Default: a key of this process. */
  constructor(key: Buffer = randomBytes(32)) {
    this.#key = key;
  }

  /** A text that is sealed for one purpose cannot be opened for another. */
  seal(purpose: string, values: readonly Json[]): string {
    const body = Buffer.from(JSON.stringify([...values, purpose])).toString('base64url');
    return `${body}.${this.#sign(body).toString('base64url')}`;
  }

  /** `undefined` for a text of another server, or for another purpose. */
  open(purpose: string, text: string): readonly Json[] | undefined {
    const [body = '', seal = ''] = text.split('.');
    const given = Buffer.from(seal, 'base64url');
    const expected = this.#sign(body);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const values = JSON.parse(Buffer.from(body, 'base64url').toString()) as Json[];
    return values.pop() === purpose ? values : undefined;
  }

  #sign(body: string): Buffer {
    return createHmac('sha256', this.#key).update(body).digest();
  }
}
