import { CredentialUse, type Gate, type InboundAnswer, type OutboundRequest } from '../../gate/gate.ts';

export interface GateFetchOptions {
  readonly gate: Gate;
  /** In whose name connections are opened. */
  readonly caller: string;
  /** The operator's own headers; a secret is put in by the gate. Nothing an agent sent us is ever among them. */
  readonly headers: Readonly<Record<string, string | { readonly credential: string }>>;
  readonly timeoutMs: number;
}

/** `fetch`, for a library that wants one, through the one way out. */
export function gateFetch({ gate, caller, headers, timeoutMs }: GateFetchOptions) {
  const own = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === 'string' ? value : new CredentialUse(value.credential),
    ]),
  );
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const method = (init.method ?? 'GET').toUpperCase() as OutboundRequest['method'];
    const isStream = method === 'GET';
    const answer = await gate.request({
      caller,
      method,
      url: String(url),
      allowList: 'allow',
      headers: { ...Object.fromEntries(new Headers(init.headers)), ...own },
      ...(typeof init.body === 'string' && { body: { bytes: Buffer.from(init.body) } }),
      timeoutMs: isStream ? STREAM_MS : timeoutMs,
      maxBytes: isStream ? STREAM_BYTES : MAX_BYTES,
      ...(init.signal && { signal: init.signal }),
    });
    if (REDIRECTS.has(answer.status)) {
      answer.end?.();
      throw redirected(answer);
    }
    const fields = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
      [value].flat().flatMap((one): [string, string][] => (one === undefined ? [] : [[name, one]])),
    );
    const isEmpty = answer.status === 204 || answer.status === 304;
    const body = isEmpty ? null : (ReadableStream.from(answer.body) as ReadableStream<Uint8Array>);
    return new Response(body, { status: answer.status, headers: fields });
  };
}

/** The SDK would follow it within the same host, and everything we send along with it. */
function redirected({ status, headers: { location } }: InboundAnswer): Error {
  const to = typeof location === 'string' ? ` to ${location.slice(0, 200)}` : '';
  return Object.assign(new Error(`it answered with a redirect${to}, which is not followed`), { code: status });
}

const REDIRECTS: ReadonlySet<number> = new Set([300, 301, 302, 303, 307, 308]);
/** A stream of events that is over is opened again. */
const STREAM_MS = 3_600_000;
const STREAM_BYTES = 64 * 1024 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
