import { SseParser } from '@dragoman/protocols';
import { unreachable } from '../attempt.ts';
import { DragomanError } from '../dragoman-error.ts';
import { Http } from '../http.ts';
import { objectGiven } from '../invalid-argument.ts';
import { DEFAULT_RETRY } from '../retry.ts';
import type { LinkHandlers, WireTransport } from './wire-transport.ts';

export interface HttpWireOptions {
  /** The base URL of the server, such as `http://127.0.0.1:7420`. */
  readonly url: string;
  readonly key: string;
  /** Default: the `fetch` of the runtime. */
  readonly fetch?: typeof fetch;
}

/** The wire over plain HTTP: messages are posted, and answers arrive as a stream of events. */
export function httpWire(options: HttpWireOptions): WireTransport {
  const { url, key, fetch } = objectGiven(options, 'options', "{ url: 'http://127.0.0.1:7420', key }");
  const http = new Http({ url, key, fetch, silenceMs: DEFAULT_RETRY.silenceMs });
  return {
    async open(handlers, signal) {
      const { session_id } = await http.json<{ session_id: string }>({
        method: 'POST',
        path: 'a2e/session',
        signal,
        gives: { session_id: 'string' },
      });
      const headers = { 'X-Session-Id': session_id };
      const gone = new AbortController();
      let isClosed = false;
      const close = (error: DragomanError) => {
        if (isClosed) return;
        isClosed = true;
        gone.abort();
        handlers.onClosed(error);
      };
      void readStream(http, { headers, signal: gone.signal }, { ...handlers, onClosed: close });
      let before: Promise<unknown> = Promise.resolve();
      return {
        // One after the other, because concurrent posts may arrive in another order.
        send: (body) => {
          before = before
            .then(() => http.json({ method: 'POST', path: 'a2e/send', body, headers, signal: gone.signal, gives: {} }))
            .catch((error: unknown) => close(errorOf(url, error)));
        },
        // Says goodbye, because open sessions are limited; but waits only for a short time, because the server may be
        // gone.
        close: async () => {
          const late = setTimeout(() => gone.abort(), GOODBYE_MS);
          await before;
          clearTimeout(late);
          gone.abort();
        },
      };
    },
  };
}

async function readStream(
  http: Http,
  { headers, signal }: { headers: Record<string, string>; signal: AbortSignal },
  { onMessage, onClosed }: LinkHandlers,
): Promise<void> {
  try {
    const { response, attempt } = await http.open({ path: 'a2e/stream', accept: 'text/event-stream', headers, signal });
    const parser = new SseParser();
    const reader = response.body?.getReader();
    for (;;) {
      const next = await attempt.wait(reader?.read() ?? Promise.resolve({ done: true as const, value: undefined }));
      if (next.done) break;
      for (const event of parser.push(next.value)) if (event.ok) onMessage(event.value.data);
    }
    onClosed(unreachable(http.url, 'the stream ended'));
  } catch (error) {
    onClosed(errorOf(http.url, error));
  }
}

/** The error that ends the session. A lost session is like a lost connection: its requests may still be running. */
function errorOf(url: string, error: unknown): DragomanError {
  if (!(error instanceof DragomanError)) return unreachable(url, error);
  return error.status !== undefined && GONE.has(error.status) ? unreachable(url, error) : error;
}

/** 404: the session does not exist any more. 410: a part of its output is lost. */
const GONE: ReadonlySet<number> = new Set([404, 410]);
const GOODBYE_MS = 2_000;
