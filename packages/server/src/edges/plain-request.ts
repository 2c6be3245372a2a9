import type { IncomingHttpHeaders } from 'node:http';
import type { ArrivedRequest, ReadBody } from './arrived-request.ts';
import { bodyTooLarge } from './body.ts';

/**
 * A request in the plainest form there is: one that came whole, in which nothing can be read in two ways. Its line and its
 * fields hold visible ASCII, no field came twice, and its body is as long as a Content-Length of digits says, if it has one.
 */
export class PlainRequest implements ArrivedRequest {
  readonly httpVersion = '1.1';
  readonly isReceived = true;
  readonly peer: string | undefined;
  readonly #head: PlainHead;
  readonly #body: Uint8Array;

  constructor(head: PlainHead, body: Uint8Array, peer: string | undefined) {
    this.#head = head;
    this.#body = body;
    this.peer = peer;
  }

  get method(): string {
    return this.#head.method;
  }

  get target(): string {
    return this.#head.target;
  }

  get headers(): IncomingHttpHeaders {
    return this.#head.headers;
  }

  get fieldCount(): number {
    return this.#head.fieldCount;
  }

  readBody(maxBytes: number): ReadBody {
    return this.#body.length > maxBytes ? bodyTooLarge(maxBytes) : this.#body;
  }

  /** It has been read. */
  discardBody(): Promise<void> {
    return Promise.resolve();
  }
}

/** Reads the requests of one connection. */
export class PlainReader {
  readonly #options: PlainReaderOptions;
  /** A peer says much the same before each of its bodies. */
  #last: PlainHead | undefined;

  constructor(options: PlainReaderOptions) {
    this.#options = options;
  }

  /** The request at this place, and where the next one begins; `undefined` for whatever is not plain, which is for Node to read. */
  read(bytes: Buffer, from: number): { readonly request: PlainRequest; readonly end: number } | undefined {
    const headEnd = bytes.indexOf(HEAD_END, from);
    if (headEnd === -1 || headEnd - from > this.#options.maxHeaderBytes) return undefined;
    const text = bytes.toString('latin1', from, headEnd);
    const head = this.#last?.text === text ? this.#last : readHead(text);
    if (head === undefined || head.fieldCount > this.#options.maxHeaderFields) return undefined;
    this.#last = head;
    const start = headEnd + HEAD_END.length;
    const end = start + head.length;
    if (end > bytes.length) return undefined;
    return { request: new PlainRequest(head, bytes.subarray(start, end), this.#options.peer), end };
  }
}

export interface PlainReaderOptions {
  readonly peer: string | undefined;
  readonly maxHeaderBytes: number;
  readonly maxHeaderFields: number;
}

interface PlainHead {
  readonly text: string;
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly fieldCount: number;
  /** Of the body. */
  readonly length: number;
}

/** A request's line and fields. */
function readHead(text: string): PlainHead | undefined {
  if (!PLAIN_HEAD.test(text)) return undefined;
  const lineEnd = text.indexOf('\r\n');
  const [method = '', target = ''] = (lineEnd === -1 ? text : text.slice(0, lineEnd)).split(' ');
  // Whatever a field is called, nothing is inherited.
  const headers: IncomingHttpHeaders = Object.create(null);
  let fieldCount = 0;
  for (let at = lineEnd; at !== -1; ) {
    const start = at + 2;
    at = text.indexOf('\r\n', start);
    const colon = text.indexOf(':', start);
    const name = text.slice(start, colon).toLowerCase();
    if (headers[name] !== undefined || NOT_PLAIN.has(name)) return undefined;
    headers[name] = (at === -1 ? text.slice(colon + 1) : text.slice(colon + 1, at)).trim();
    fieldCount += 1;
  }
  const { connection, 'content-length': length = '0' } = headers;
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined;
  return LENGTH.test(length)
    ? { text, method, target, headers: Object.freeze(headers), fieldCount, length: Number(length) }
    : undefined;
}

const HEAD_END = Buffer.from('\r\n\r\n');
/** RFC 9112 §3 and §5, without what RFC 9110 §5.5 advises against: no folded lines, no bytes beyond ASCII. The origin form alone. */
const PLAIN_HEAD = /^(?:GET|POST|PUT|DELETE) \/[!"$-~]* HTTP\/1\.1(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t -~]*)*$/;
/** What these ask for, or what others make of them, is Node's business. */
const NOT_PLAIN = new Set([
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'keep-alive',
  'proxy-connection',
  '__proto__',
]);
/** No sign, no list, and no more than one read could hold anyway. */
const LENGTH = /^\d{1,6}$/;
