import type { Clock } from '../../ports.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` that tells of requests whose answer cannot come any more: the stream it was to come on is over, and cannot be
 * resumed. The SDK tells nobody of that, so that who asked would wait until its time is up.
 */
export function watchAnswers(fetch: Fetch, { clock, onOver }: { clock: Clock; onOver: (id: string) => void }): Fetch {
  return async (url, init = {}) => {
    const response = await fetch(url, init);
    const id = typeof init.body === 'string' ? REQUEST_ID.exec(init.body)?.[1] : undefined;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (id === undefined || !isStream || response.body === null) return response;
    // What came last is still being read.
    const body = watched(response.body, () => clock.after(GRACE_MS, () => onOver(id)));
    return new Response(ReadableStream.from(body) as ReadableStream<Uint8Array>, response);
  };
}

async function* watched(body: ReadableStream<Uint8Array>, onOver: () => void): AsyncGenerator<Uint8Array> {
  let isResumable = false;
  try {
    for await (const chunk of body) {
      // MCP, Resumability: a stream whose events have ids is asked for again by the last of them.
      isResumable ||= EVENT_ID.test(Buffer.from(chunk).toString('latin1'));
      yield chunk;
    }
  } finally {
    if (!isResumable) onOver();
  }
}

/** As `DirectTransport` writes them. */
const REQUEST_ID = /^\{"jsonrpc":"2\.0","id":"(d\d+)"/;
const EVENT_ID = /(?:^|\n)id:/;
const GRACE_MS = 1_000;
