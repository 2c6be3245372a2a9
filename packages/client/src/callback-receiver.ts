import { isObject, type Json } from '@dragoman/protocols';
import type { MailboxResponse } from '@dragoman/protocols/a2a-mailbox';
import { invalidArgument, objectGiven } from './invalid-argument.ts';

export interface CallbackReceiverOptions {
  /** `whsec_…`, shown when the agent was made. */
  readonly secret?: string;
  /** `whpk_…`, as shown by `GET /agent` of the server. */
  readonly publicKey?: string;
  /** Called once for each answer. If it throws, the sender retries. */
  readonly onAnswer: (answer: MailboxResponse, callback: Callback) => void | Promise<void>;
  /** Maximum difference between the sender's clock and ours. Default: 300. */
  readonly toleranceSeconds?: number;
  /** How many ids are remembered to detect repeats. Default: 10,000. */
  readonly remembers?: number;
  /** The largest accepted body in bytes. Default: 64 MiB, enough for every answer of our server. */
  readonly maxBytes?: number;
  readonly now?: () => Date;
}

/** One callback as received. */
export interface Callback {
  /** The same at every attempt. */
  readonly id: string;
  /** When this try was signed. */
  readonly signedAt: Date;
  /** Whether the callback was received before. `onAnswer` is not called for a repeat. */
  readonly isRepeat: boolean;
}

/** Why a callback was rejected. `status` is for the sender. */
export class CallbackRefused extends Error {
  override readonly name = 'CallbackRefused';
  /** With 503, the sender may retry a little later. */
  readonly status: 400 | 401 | 413 | 503;

  constructor(status: CallbackRefused['status'], message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Receives the callbacks of a mailbox: checks their signatures (Standard Webhooks, HMAC or Ed25519), drops repeats, and
 * passes on each answer once. Callbacks are delivered at least once, so an answer that could not be handled is
 * delivered again.
 */
export class CallbackReceiver {
  readonly #options: CallbackReceiverOptions;
  readonly #keys: Promise<readonly VerifyingKey[]>;
  /** The callbacks in progress or done, by id. The oldest is dropped first. */
  readonly #seen = new Map<string, Promise<void>>();
  /** The bytes that were read of bodies whose signatures are not verified yet. */
  #unproven = 0;

  constructor(options: CallbackReceiverOptions) {
    objectGiven(options, 'options', '{ publicKey, onAnswer }');
    if (options.secret === undefined && options.publicKey === undefined) {
      throw invalidArgument('a receiver needs secret or publicKey, to verify who sent a callback');
    }
    this.#options = options;
    const secret = options.secret === undefined ? undefined : keyBytes(options.secret, SECRET);
    const publicKey = options.publicKey === undefined ? undefined : keyBytes(options.publicKey, PUBLIC_KEY);
    this.#keys = Promise.all([
      ...(secret === undefined ? [] : [hmacKey(secret)]),
      ...(publicKey === undefined ? [] : [ed25519Key(publicKey)]),
    ]);
    this.#keys.catch(() => {});
  }

  /** For servers that speak the web's own types: a `Request` in, a `Response` out. */
  readonly handle = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { Allow: 'POST' } });
    const reader = request.body?.getReader();
    try {
      await this.receive({ headers: request.headers, body: chunksOf(reader) });
      return new Response(null, { status: 204 });
    } catch (error) {
      if (error instanceof CallbackRefused) return new Response(error.message, { status: error.status });
      return new Response(null, { status: 500 });
    } finally {
      // The rest of a refused body is not read.
      reader?.cancel().catch(() => {});
    }
  };

  /**
   * For any other server. `body` is the bytes, or a stream of them, such as a request of Node. Nothing is read from a
   * stream if the headers are invalid. Rejects with `CallbackRefused`, or with the error of `onAnswer`.
   */
  async receive({ headers, body }: { readonly headers: AnyHeaders; readonly body: CallbackBody }): Promise<Callback> {
    const { onAnswer } = this.#options;
    const head = this.#headOf(headers);
    const bytes = await this.#provenBody(head, body);
    const { id, signedAt } = head;
    const earlier = this.#seen.get(id);
    if (earlier !== undefined) {
      await earlier;
      return { id, signedAt, isRepeat: true };
    }
    const answer = answerIn(bytes);
    const callback = { id, signedAt, isRepeat: false };
    const handled = (async () => onAnswer(answer, callback))();
    this.#remember(id, handled);
    try {
      await handled;
    } catch (error) {
      this.#seen.delete(id);
      throw error;
    }
    return callback;
  }

  /** Checks everything that can be checked before the body is read, because anyone may send to a receiver. */
  #headOf(headers: AnyHeaders): Head {
    const { secret, publicKey, toleranceSeconds = 300, now = () => new Date() } = this.#options;
    const id = headerIn(headers, 'webhook-id');
    const timestamp = headerIn(headers, 'webhook-timestamp');
    const signatures = signaturesIn(headerIn(headers, 'webhook-signature'));
    if (!/^\d{1,12}$/.test(timestamp)) throw new CallbackRefused(400, 'webhook-timestamp must be seconds');
    const signedAt = new Date(Number(timestamp) * 1000);
    if (Math.abs(now().getTime() - signedAt.getTime()) > toleranceSeconds * 1000) {
      throw new CallbackRefused(401, `its timestamp is more than ${toleranceSeconds} seconds from the current time`);
    }
    const schemes = new Set(signatures.map(({ scheme }) => scheme));
    if (!(secret !== undefined && schemes.has('v1')) && !(publicKey !== undefined && schemes.has('v1a'))) {
      throw new CallbackRefused(401, whyNotSigned(schemes));
    }
    this.#checkSize(Number(valueIn(headers, 'content-length') ?? 0));
    return { id, signedAt, signatures, prefix: new TextEncoder().encode(`${id}.${timestamp}.`) };
  }

  /** The body, if its signature is valid. */
  async #provenBody(head: Head, body: CallbackBody): Promise<Uint8Array> {
    if (body instanceof Uint8Array) {
      this.#checkSize(body.length);
      return this.#proven(head, [body]);
    }
    const parts: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const part of body) {
        bytes += part.length;
        this.#unproven += part.length;
        this.#checkSize(bytes);
        parts.push(part);
      }
      return await this.#proven(head, parts);
    } finally {
      this.#unproven -= bytes;
    }
  }

  async #proven({ prefix, signatures }: Head, parts: readonly Uint8Array[]): Promise<Uint8Array> {
    const content = joined([prefix, ...parts]);
    if (await isSigned(content, signatures, await this.#keys)) return content.subarray(prefix.length);
    throw new CallbackRefused(401, NOT_SIGNED);
  }

  /** Throws if a body, or all unverified bodies together, exceed the limit. */
  #checkSize(bytes: number): void {
    const { maxBytes = MAX_BYTES } = this.#options;
    if (bytes > maxBytes) throw new CallbackRefused(413, `a callback has at most ${maxBytes} bytes`);
    if (this.#unproven > Math.max(MOST_UNPROVEN, 2 * maxBytes)) {
      throw new CallbackRefused(503, 'too many requests at once; try again later');
    }
  }

  #remember(id: string, handled: Promise<void>): void {
    handled.catch(() => {});
    this.#seen.set(id, handled);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > (this.#options.remembers ?? 10_000) && oldest !== undefined) this.#seen.delete(oldest);
  }
}

/** A `Headers` object, or an object with lower-case names, as Node has it. */
type AnyHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The bytes of a body, or a stream of them. */
type CallbackBody = Uint8Array | AsyncIterable<Uint8Array>;

/** The headers of a callback. */
interface Head {
  readonly id: string;
  readonly signedAt: Date;
  readonly signatures: readonly Signature[];
  /** The signed text before the body. */
  readonly prefix: Uint8Array;
}

interface Signature {
  readonly scheme: string;
  readonly base64: string;
}

/** The format of a key. `length` is in bytes, for keys of one fixed length. */
interface KeyForm {
  readonly name: string;
  readonly prefix: string;
  readonly length?: number;
}

interface VerifyingKey {
  readonly scheme: 'v1' | 'v1a';
  verify(signature: Uint8Array<ArrayBuffer>, content: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

async function isSigned(
  content: Uint8Array<ArrayBuffer>,
  signatures: readonly Signature[],
  keys: readonly VerifyingKey[],
): Promise<boolean> {
  for (const { scheme, base64 } of signatures) {
    const signature = bytesOf(base64);
    for (const key of keys) {
      if (key.scheme === scheme && signature !== undefined && (await key.verify(signature, content))) return true;
    }
  }
  return false;
}

/** The signatures in a header. While keys change, several are sent, and one valid signature is enough. */
function signaturesIn(header: string): Signature[] {
  return header
    .split(' ')
    .slice(0, 8)
    .map((text) => {
      const [scheme = '', base64 = ''] = text.split(',');
      return { scheme, base64 };
    });
}

/** Why no signature could be verified: names the key that is missing for the received schemes. */
function whyNotSigned(schemes: ReadonlySet<string>): string {
  if (schemes.has('v1a'))
    return 'it is signed with Ed25519 (v1a) only, as for senders without a key: verify it with the public key';
  return schemes.has('v1') ? 'it is signed with HMAC (v1) only: verify it with the secret' : NOT_SIGNED;
}

async function hmacKey(bytes: Uint8Array<ArrayBuffer>): Promise<VerifyingKey> {
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  return { scheme: 'v1', verify: (signature, content) => crypto.subtle.verify('HMAC', key, signature, content) };
}

async function ed25519Key(bytes: Uint8Array<ArrayBuffer>): Promise<VerifyingKey> {
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'Ed25519' }, false, ['verify']);
  return { scheme: 'v1a', verify: (signature, content) => crypto.subtle.verify('Ed25519', key, signature, content) };
}

/** The bytes of a key. The constructor throws for an invalid one: later, only the sender would see the error. */
function keyBytes(text: string, { name, prefix, length }: KeyForm): Uint8Array<ArrayBuffer> {
  const bytes = typeof text === 'string' && text.startsWith(prefix) ? bytesOf(text.slice(prefix.length)) : undefined;
  if (bytes !== undefined && bytes.length > 0 && (length === undefined || bytes.length === length)) return bytes;
  const what = length === undefined ? 'base64' : `base64 of ${length} bytes`;
  throw invalidArgument(`${name} must be ${prefix} and ${what}, as the server showed it`);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function answerIn(body: Uint8Array): MailboxResponse {
  const json = jsonIn(body);
  if (isObject(json) && typeof json['messageId'] === 'string') {
    // The body is signed by the server, which sends only complete answers.
    return json as unknown as MailboxResponse;
  }
  throw new CallbackRefused(400, 'the body must be an answer of a mailbox');
}

/**
 * Parsed with the plain rules of JSON: a stricter parser could refuse bytes that are signed, and the answer would be
 * lost.
 */
function jsonIn(body: Uint8Array): Json | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as Json;
  } catch {
    return undefined;
  }
}

async function* chunksOf(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || value === undefined) return;
    yield value;
  }
}

function valueIn(headers: AnyHeaders, name: string): string | readonly string[] | null | undefined {
  return headers instanceof Headers ? headers.get(name) : headers[name];
}

function headerIn(headers: AnyHeaders, name: string): string {
  const value = valueIn(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new CallbackRefused(400, `${name} is required but missing`);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * A server's answer has at most ten million characters. Each may be escaped as `\u0000`, and there are fields around
 * them.
 */
const MAX_BYTES = 64 * 1024 * 1024;
/** The limit for all bodies together whose signatures are not verified yet. */
const MOST_UNPROVEN = 2 * MAX_BYTES;
const NOT_SIGNED = 'no signature of this callback is valid';
const SECRET: KeyForm = { name: 'secret', prefix: 'whsec_' };
const PUBLIC_KEY: KeyForm = { name: 'publicKey', prefix: 'whpk_', length: 32 };
