import { Attempt } from './attempt.ts';
import { invalidArgument, shown } from './invalid-argument.ts';
import { errorOfResponse } from './problem.ts';
import { checkedAnswer, type Gives, unexpectedAnswer } from './unexpected-answer.ts';

export interface HttpOptions {
  readonly url: string;
  readonly key: string | undefined;
  readonly fetch: typeof fetch | undefined;
  readonly silenceMs: number;
}

export interface ClientRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Relative to the server's URL, without a leading slash. */
  readonly path: string;
  readonly accept?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Whether an error status is returned like any other, because its body describes the error. */
  readonly anyStatus?: boolean;
}

export interface JsonRequest<T> extends ClientRequest {
  /** The members that the answer must have. They are checked, because another program may be behind the URL. */
  readonly gives: Gives<NoInfer<T>>;
}

/** Requests to one server with one key. */
export class Http {
  readonly url: string;
  /** The API key. */
  readonly key: string | undefined;
  readonly #fetch: typeof fetch;
  readonly #silenceMs: number;

  constructor({ url, key, fetch, silenceMs }: HttpOptions) {
    this.url = serverUrl(url);
    this.key = checkedKey(key);
    // Called without `this`, because a browser's fetch accepts no other `this` than the window.
    this.#fetch = (input, init) => (fetch ?? globalThis.fetch)(input, init);
    this.#silenceMs = silenceMs;
  }

  /**
   * Sends a request and returns the response before its body is read, with the attempt that reads must use. Throws for
   * any status but 2xx, and for an unexpected content type.
   */
  async open(request: ClientRequest): Promise<{ response: Response; attempt: Attempt }> {
    const { method = 'GET', path, accept = 'application/json', body, headers, signal } = request;
    const attempt = new Attempt({ caller: signal, silenceMs: this.#silenceMs, url: this.url });
    const init: RequestInit = {
      method,
      headers: {
        ...(this.key !== undefined && { Authorization: `Bearer ${this.key}` }),
        Accept: accept,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      // A redirect is not followed, because the key must not go to another server.
      redirect: 'manual',
      signal: attempt.signal,
    };
    try {
      const response = await attempt.wait(this.#fetch(this.url + path, init));
      if (!response.ok && request.anyStatus !== true) throw await attempt.wait(errorOfResponse(response, this.url));
      const type = response.headers.get('content-type') ?? accept;
      if (request.accept !== undefined && !type.startsWith(accept)) {
        throw unexpectedAnswer({ url: this.url, path, status: response.status }, type);
      }
      return { response, attempt };
    } catch (error) {
      attempt.leave();
      throw error;
    }
  }

  /** Sends a request and returns its JSON answer. */
  async json<T>({ gives, ...request }: JsonRequest<T>): Promise<T> {
    const { response, attempt } = await this.open(request);
    try {
      const text = await attempt.wait(response.text());
      return checkedAnswer<T>(text, gives, { url: this.url, path: request.path, status: response.status });
    } finally {
      attempt.leave();
    }
  }
}

/** The URL of a server with a slash at its end, for paths to be appended. */
export function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw invalidArgument(`url must be the address of a server, such as http://127.0.0.1:7420; got ${shown(text)}`);
  }
  if (url.username !== '' || url.password !== '')
    throw invalidArgument('url must not contain a password: pass the API key as key');
  return `${url.origin}${url.pathname.replace(/\/?$/, '/')}`;
}

function checkedKey(key: string | undefined): string | undefined {
  if (key === undefined || (typeof key === 'string' && /^[\x21-\x2b\x2d-\x7e]+$/.test(key))) return key;
  throw invalidArgument('key must be an API key as the server showed it: no spaces, commas or line breaks');
}
