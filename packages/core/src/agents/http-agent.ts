import { encodeEnvelope, type Failure, failure, redacted } from '@dragoman/protocols';
import { connectFault } from '../gate/connect-fault.ts';
import type { Clock } from '../ports.ts';
import { type Agent, agentFailed } from './agent.ts';
import { directExchange, type HttpExchange, type InboundAnswer } from './http-exchange.ts';
import { ACCEPT, frameReaderFor } from './http-frames.ts';
import { IdleTimer } from './idle-timer.ts';
import { RemoteFrames } from './remote-frames.ts';

/**
 * An agent behind a URL: the envelope is posted to it, as the caller sent it, and its answer is one JSON frame or a
 * stream of them, as SSE or NDJSON. A redirect is a failure: following it would carry the envelope, secrets and all,
 * to where nobody meant it to go.
 */
export function httpAgent({
  id,
  url,
  clock,
  exchange = directExchange({ clock }),
  idleMs = TEN_MINUTES,
}: HttpAgentOptions): Agent {
  return {
    id,
    async *answer(envelope, call) {
      const idle = new IdleTimer({ clock, milliseconds: idleMs });
      const over = new AbortController();
      const signal = AbortSignal.any([call.signal, idle.signal, over.signal]);
      const frames = new RemoteFrames(envelope.request_id);
      try {
        const body = JSON.stringify(encodeEnvelope(envelope));
        const answer = await idle.watch(exchange({ url, method: 'POST', headers: headersFor(body), body, signal }));
        const refusal = await idle.watch(refusalOf(answer));
        if (refusal !== undefined) return yield { part: 'failure', failure: refusal };
        const read = frameReaderFor(answer.headers['content-type']);
        if (read === undefined) return yield agentFailed(wrongType(answer.headers['content-type']));
        for await (const frame of read(idle.watchEach(answer.body))) {
          const part = frames.receive(frame);
          if (part !== undefined) yield part;
          if (frames.ended) return;
        }
        const end = frames.end();
        if (end !== undefined) yield end;
      } catch (error) {
        call.signal.throwIfAborted();
        if (frames.ended) return;
        if (idle.signal.aborted)
          yield { part: 'failure', failure: failure('timeout', {}, `The agent sent nothing for ${idleMs} ms.`) };
        else yield agentFailed(`The agent could not be asked: ${connectFault(error)}.`);
      } finally {
        idle.stop();
        // Whatever of the answer nobody has read stays with the agent, and the connection with it.
        over.abort();
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

interface HttpAgentOptions {
  readonly id: string;
  readonly url: URL;
  readonly clock: Clock;
  readonly exchange?: HttpExchange;
  /** How long the agent may send nothing at all. */
  readonly idleMs?: number;
}

function headersFor(body: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    accept: ACCEPT,
    // A compressed answer can be a thousand times what it seems.
    'accept-encoding': 'identity',
    'user-agent': 'dragoman',
  };
}

/** Why an answer is none, judged by its head. */
async function refusalOf({ status, headers, body }: InboundAnswer): Promise<Failure | undefined> {
  if (status >= 300 && status < 400) {
    const message = `The agent answered with a redirect (${status}), which is not followed.`;
    return { ...failure('agent_failed', { status }, message), retryable: false };
  }
  if (status < 200 || status >= 300) {
    const details = { status, excerpt: redacted(await beginningOf(body)), ...retryAfter(headers['retry-after']) };
    const retryable = status >= 500 || PASSING.has(status);
    return { ...failure('agent_failed', details, `The agent answered with HTTP status ${status}.`), retryable };
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return undefined;
  return failure('agent_failed', {}, `The agent answered in ${JSON.stringify(encoding)}, which was not asked for.`);
}

async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    parts.push(part);
    length += part.length;
    if (length >= MAX_EXCERPT) break;
  }
  return Buffer.concat(parts).subarray(0, MAX_EXCERPT).toString();
}

function retryAfter(header: string | undefined): { retry_after?: number } {
  return header !== undefined && /^\d{1,6}$/.test(header) ? { retry_after: Number(header) } : {};
}

function wrongType(contentType: string | undefined): string {
  return `The agent answered with ${JSON.stringify(contentType?.slice(0, 100))}; expected application/json, text/event-stream or application/x-ndjson.`;
}

const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
const MAX_EXCERPT = 1024;
const TEN_MINUTES = 600_000;
