import { setMaxListeners } from 'node:events';
import type { Clock } from '../../ports.ts';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface WatchStreamsOptions {
  readonly clock: Clock;
  /** Whether somebody waits for the answer to this request. */
  readonly isAwaited: (id: RequestId) => boolean;
  /** An answer cannot come any more. */
  readonly onOver: (id: RequestId) => void;
  /** The stream of what the server says by itself was there, and cannot be had again. */
  readonly onLost: () => void;
}

export type RequestId = string | number;

/**
 * A `fetch` for the SDK that looks after its streams. It opens one that has ended again, as soon as the server wants it to, gives it up
 * after a few tries and tells nobody of either, so that who asked would wait until its time is up, and who subscribed for ever.
 */
export function watchStreams(fetch: Fetch, options: WatchStreamsOptions): Fetch {
  const { clock, isAwaited, onOver, onLost } = options;
  const events: Strand = newStrand(undefined);
  /** What is asked for again, by the id of the event it ended with. */
  const ended = new Map<string, Strand>();
  /** What is being waited for or read, by the request that it answers. */
  const underWay = new Map<RequestId, Strand>();

  const begin = (strand: Strand, init: RequestInit): RequestInit => {
    const { signal } = init;
    const controller = new AbortController();
    const follow = () => controller.abort(signal?.reason);
    // The SDK has one for all that is under way: Node would warn of more than ten.
    if (signal) setMaxListeners(0, signal);
    if (signal?.aborted === true) follow();
    else signal?.addEventListener('abort', follow, { once: true });
    strand.stop = () => controller.abort(new Error('nobody waits for it any more'));
    strand.leave = () => signal?.removeEventListener('abort', follow);
    if (strand.id !== undefined) underWay.set(strand.id, strand);
    return { ...init, signal: controller.signal };
  };

  const leave = (strand: Strand) => {
    strand.leave();
    if (strand.id !== undefined && underWay.get(strand.id) === strand) underWay.delete(strand.id);
  };

  const over = (strand: Strand) => {
    const { id } = strand;
    // What came last is still being read.
    if (id !== undefined) clock.after(GRACE_MS, () => onOver(id));
    else if (strand.wasOpen) onLost();
  };

  const isForNobody = ({ id }: Strand) => id !== undefined && !isAwaited(id);

  const onEnd = (strand: Strand) => {
    leave(strand);
    strand.isOpen = false;
    strand.endedAt = clock.elapsed();
    for (const [key, other] of ended) if (isForNobody(other)) ended.delete(key);
    // MCP, Resumability: a stream whose events have ids is asked for again by the last of them.
    if (strand.lastEvent !== undefined) ended.set(strand.lastEvent, strand);
    else if (strand.id !== undefined) over(strand);
  };

  const post: Fetch = async (url, init = {}) => {
    const { id, cancelled } = typeof init.body === 'string' ? messageIn(init.body) : {};
    // Whatever the server makes of it: what it holds open is one of the few connections there are.
    if (cancelled !== undefined) underWay.get(cancelled)?.stop();
    if (id === undefined) return fetch(url, init);
    const strand = newStrand(id);
    try {
      const response = await fetch(url, begin(strand, init));
      if (!response.ok) return response;
      if (response.status === ACCEPTED || response.body === null) over(strand);
      else strand.isOpen = true;
      return strand.isOpen ? watched(response, strand, onEnd) : response;
    } finally {
      if (!strand.isOpen) leave(strand);
    }
  };

  const reopen = async (strand: Strand, url: string | URL, init: RequestInit): Promise<Response> => {
    const { signal } = init;
    try {
      const left = strand.endedAt + PAUSE_MS - clock.elapsed();
      if (left > 0) await clock.wait(left, signal ?? undefined);
      if (isForNobody(strand)) return notOffered();
      const answer = await fetch(url, begin(strand, init));
      const response = answer.ok && !isStream(answer) ? notOffered() : answer;
      if (response !== answer) await answer.body?.cancel();
      if (response.ok) {
        strand.failures = 0;
        strand.wasOpen = true;
        strand.isOpen = true;
        // The SDK knows no id but those of the stream that ended last.
        strand.lastEvent = undefined;
        return watched(response, strand, onEnd);
      }
      // That it is not there, or not for us, is not a matter of time.
      const isForGood = response.status < 500 && response.status !== TOO_MANY;
      strand.failures = isForGood ? TRIES : strand.failures + 1;
      if (strand.failures >= TRIES) over(strand);
      return response;
    } catch (error) {
      // The SDK would try it again, though nobody is there any more.
      if (signal?.aborted === true || isForNobody(strand)) return notOffered();
      strand.failures += 1;
      if (strand.failures >= TRIES) over(strand);
      throw error;
    } finally {
      if (!strand.isOpen) leave(strand);
      strand.endedAt = Math.max(strand.endedAt, clock.elapsed());
    }
  };

  return (url, init = {}) => {
    if (init.method !== 'GET') return post(url, init);
    const lastEvent = new Headers(init.headers).get('last-event-id');
    const strand = (lastEvent !== null && ended.get(lastEvent)) || events;
    // What it asks for without an id, because the last stream had none, is there already.
    return strand.isOpen ? Promise.resolve(notOffered()) : reopen(strand, url, init);
  };
}

/** How the SDK goes on after a stream that ended. */
export const TRIES = 5;

/** One answer, or all that the server says by itself, on however many streams one after the other. */
interface Strand {
  /** The request that it answers. */
  readonly id: RequestId | undefined;
  lastEvent: string | undefined;
  endedAt: number;
  failures: number;
  wasOpen: boolean;
  isOpen: boolean;
  /** Ends what is under way. */
  stop: () => void;
  /** Listens no more for the end of everything. */
  leave: () => void;
}

function newStrand(id: RequestId | undefined): Strand {
  const endedAt = Number.NEGATIVE_INFINITY;
  const [stop, leave] = [() => {}, () => {}];
  return { id, lastEvent: undefined, endedAt, failures: 0, wasOpen: false, isOpen: false, stop, leave };
}

function watched(response: Response, strand: Strand, onEnd: (strand: Strand) => void): Response {
  const { body } = response;
  if (body === null) return response;
  return new Response(ReadableStream.from(following(body, strand, onEnd)) as ReadableStream<Uint8Array>, response);
}

async function* following(
  body: ReadableStream<Uint8Array>,
  strand: Strand,
  onEnd: (strand: Strand) => void,
): AsyncGenerator<Uint8Array> {
  // What stands before the first line end of a chunk began in an earlier one.
  let begun = '\n';
  try {
    for await (const chunk of body) {
      const text = begun + Buffer.from(chunk).toString('latin1');
      for (const [, id] of text.matchAll(EVENT_ID)) strand.lastEvent = id;
      const line = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
      begun = line < 0 || text.length - line > LONGEST_ID ? '' : text.slice(line);
      yield chunk;
    }
  } finally {
    onEnd(strand);
  }
}

/** Some have a page for people there. */
function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
}

/** The id of the request that a message is, or of the one that it takes back. */
function messageIn(body: string): { readonly id?: RequestId; readonly cancelled?: RequestId } {
  const [, direct] = DIRECT_ID.exec(body) ?? [];
  if (direct !== undefined) return { id: direct };
  const { id, method, params } = JSON.parse(body) as { id?: RequestId; method?: string; params?: CancelledParams };
  const cancelled = method === 'notifications/cancelled' ? params?.requestId : undefined;
  return { ...(method !== undefined && id !== undefined && { id }), ...(cancelled !== undefined && { cancelled }) };
}

interface CancelledParams {
  readonly requestId?: RequestId;
}

/** MCP, Listening for Messages from the Server: what a server answers that has no stream; the SDK then asks for none. */
function notOffered(): Response {
  return new Response(null, { status: 405 });
}

/** As `DirectTransport` writes them: the rest of what a tool is called with need not be read. */
const DIRECT_ID = /^\{"jsonrpc":"2\.0","id":"(d\d+)"/;
/** HTML, Server-sent events §9.2.6. One that a line has not ended yet is no id. */
const EVENT_ID = /[\r\n]id: ?([^\r\n]+)(?=[\r\n])/g;
const LONGEST_ID = 4_096;
const ACCEPTED = 202;
const TOO_MANY = 429;
const GRACE_MS = 1_000;
/** Between the end of a stream and the next, whatever a server asks for. */
const PAUSE_MS = 1_000;
