import { type E2AEnvelope, type E2AResponse, encodeEnvelope } from '@dragoman/protocols';
import { type Attempt, unreachable } from './attempt.ts';
import type { ClientRequest, Http } from './http.ts';
import { Lines } from './lines.ts';
import { readFrame } from './read-frame.ts';
import type { ResumeAttempt, SendAttempt, Transport } from './transport.ts';

/**
 * Sends requests over HTTP, and reads frames as NDJSON. SSE has no advantage here: a frame contains its number, and
 * `EventSource` can neither post nor send a key.
 */
export class HttpTransport implements Transport {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  send(envelope: E2AEnvelope, { signal, idempotencyKey }: SendAttempt): AsyncGenerator<E2AResponse | undefined> {
    return this.#frames({
      method: 'POST',
      path: 'e2a',
      body: JSON.stringify(encodeEnvelope(envelope)),
      signal,
      ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }),
    });
  }

  resume(requestId: string, { signal, after }: ResumeAttempt): AsyncGenerator<E2AResponse | undefined> {
    return this.#frames({ path: `e2a/requests/${encodeURIComponent(requestId)}/responses?after=${after}`, signal });
  }

  async *#frames(request: ClientRequest): AsyncGenerator<E2AResponse | undefined> {
    const { response, attempt } = await this.#http.open({ ...request, accept: 'application/x-ndjson' });
    const lines = new Lines();
    const reader = response.body?.getReader();
    let isOver = false;
    try {
      if (reader === undefined) throw unreachable(this.#http.url, 'the answer has no body');
      for (;;) {
        const { done, value } = await attempt.wait(reader.read());
        if (done) break;
        for (const line of lines.push(value)) {
          const frame = line === '' || line === '\r' ? undefined : readFrame(line);
          isOver ||= frame?.is_final === true;
          yield frame;
        }
      }
    } finally {
      if (isOver && reader !== undefined) void finish(reader, attempt);
      else attempt.end();
    }
  }
}

/** Reads the end of the body after the final frame, so that the connection can serve the next request. */
async function finish(reader: ReadableStreamDefaultReader<Uint8Array>, attempt: Attempt): Promise<void> {
  const timer = setTimeout(() => attempt.end(), FINISH_MS);
  try {
    const { done } = await reader.read();
    if (!done) attempt.end();
  } catch {
    // Nobody waits for this connection any more.
  } finally {
    clearTimeout(timer);
    attempt.leave();
  }
}

const FINISH_MS = 1_000;
