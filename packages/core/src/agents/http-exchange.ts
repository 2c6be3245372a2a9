import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Clock } from '../ports.ts';

/** One HTTP exchange: resolves when the head of the answer is there. Redirects are answers like any other. */
export type HttpExchange = (request: OutboundRequest) => Promise<InboundAnswer>;

export interface OutboundRequest {
  readonly url: URL;
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the exchange, its body included. */
  readonly signal: AbortSignal;
}

export interface InboundAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Pulled: nothing is read from the socket while nobody asks. Ends the connection when it is left early. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Straight to the host the URL names. Each exchange has its own connection, which ends with it. */
export function directExchange({ clock }: { clock: Clock }): HttpExchange {
  return ({ url, method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const send = url.protocol === 'https:' ? requestHttps : requestHttp;
      const options: RequestOptions = { method, headers, signal, agent: false, maxHeaderSize: MAX_HEADER_BYTES };
      const request = send(url, options);
      request.on('error', reject);
      request.on('response', (answer) => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: chunks(answer) });
      });
      request.on('socket', (socket) => {
        const connected = new AbortController();
        for (const event of ['connect', 'close']) socket.once(event, () => connected.abort());
        const tooLate = () => request.destroy(Object.assign(new Error('connect timed out'), { code: 'ETIMEDOUT' }));
        clock.wait(CONNECT_MS, connected.signal).then(tooLate, () => {});
      });
      request.end(body);
    });
}

async function* chunks(answer: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of answer) yield chunk as Uint8Array;
  } finally {
    answer.destroy();
  }
}

const CONNECT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;
