import {
  type E2AEnvelope,
  encodeEnvelope,
  type Failure,
  failure,
  isPassingStatus,
  redacted,
  retryAfterMs,
} from '@dragoman/protocols';
import { beginningOf } from '../gate/beginning-of.ts';
import { connectFault } from '../gate/connect-fault.ts';
import type { InboundAnswer, OutboundHeader } from '../gate/gate.ts';
import { headerOf } from '../gate/header-of.ts';
import type { NetworkGate } from '../gate/network-gate.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { type Agent, agentFailed } from './agent.ts';
import { AgentQuestions } from './agent-questions.ts';
import { credentialRefs, purposeOf, refusedRef } from './credential-refs.ts';
import { ACCEPT, frameReaderFor, type ReadFrame } from './http-frames.ts';
import { IdleTimer } from './idle-timer.ts';
import { RemoteFrames } from './remote-frames.ts';

/**
 * An agent behind a URL: the envelope is posted to it as the caller sent it, and its answer is one JSON frame or a stream of
 * frames, as SSE or NDJSON. A redirect is a failure: following it would send the envelope with its secrets to another host.
 */
export function httpAgent({
  id,
  url,
  headers = {},
  clock,
  ids,
  gate,
  idleMs = TEN_MINUTES,
  reader = new JsonReader(),
}: HttpAgentOptions): Agent {
  const readFrame: ReadFrame = (source) => reader.read(source, { caller: `agent ${id}`, waits: true });
  return {
    id,
    async *answer(envelope, call) {
      const refs = credentialRefs(envelope);
      const notAllowed = refusedRef(envelope, { principal: call.principal, gate, url });
      if (notAllowed !== undefined) return yield { part: 'failure', failure: notAllowed };
      const idle = new IdleTimer({ clock, milliseconds: idleMs });
      const over = new AbortController();
      const signal = AbortSignal.any([call.signal, idle.signal, over.signal]);
      const frames = new RemoteFrames(envelope.request_id);
      const post = (sent: E2AEnvelope) => ({
        caller: call.principal.id,
        purpose: purposeOf(envelope),
        method: 'POST' as const,
        url: url.href,
        allowList: 'allow' as const,
        headers: { ...headers, ...HEADERS, ...headersFor(refs) },
        body: { bytes: Buffer.from(JSON.stringify(encodeEnvelope(sent))) },
        signal,
      });
      const questions = new AgentQuestions({
        envelope,
        requestId: envelope.request_id,
        call,
        clock,
        ids,
        idle,
        send: async (reply) => {
          try {
            const taken = await gate.request({ ...post(reply), timeoutMs: REPLY_MS, maxBytes: MOST_REPLIED });
            for await (const _ of taken.body);
          } catch (error) {
            if (signal.aborted) return;
            call.log.warn(
              { agent: id, error: String(error) },
              'the answer to a question could not be sent to the agent',
            );
          }
        },
      });
      let hasAnswered = false;
      try {
        // An answer has no time limit of its own: it ends when nothing arrives for a while, or with the call.
        const response = gate.request({ ...post(envelope), timeoutMs: LONGEST_MS, maxBytes: Number.POSITIVE_INFINITY });
        const answer = await idle.watch(response);
        hasAnswered = true;
        const refusal = await idle.watch(refusalOf(answer, clock.now()));
        if (refusal !== undefined) return yield { part: 'failure', failure: refusal };
        const type = headerOf(answer, 'content-type');
        const read = frameReaderFor(type);
        if (read === undefined) return yield agentFailed(wrongType(type));
        for await (const frame of read(idle.watchEach(answer.body), readFrame)) {
          const part = frames.receive(frame);
          if (part !== undefined && !questions.take(part)) yield part;
          if (frames.ended) return;
        }
        const end = frames.end();
        if (end !== undefined) yield end;
      } catch (error) {
        call.signal.throwIfAborted();
        if (frames.ended) return;
        const refused = failureOf(error);
        if (refused?.code === 'forbidden' || refused?.code === 'store_unavailable')
          yield { part: 'failure', failure: refused };
        else if (idle.signal.aborted)
          yield { part: 'failure', failure: failure('timeout', {}, `The agent sent nothing for ${idleMs} ms.`) };
        else {
          const what = hasAnswered ? 'The answer of the agent was cut off' : 'The agent could not be reached';
          yield agentFailed(`${what}: ${connectFault(error)}.`);
        }
      } finally {
        idle.stop();
        // Closes the connection; the rest of the answer is not read.
        over.abort();
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

interface HttpAgentOptions {
  readonly id: string;
  readonly url: URL;
  /** The configured headers, names in lower case. A credential that the caller references overrides them. */
  readonly headers?: Readonly<Record<string, OutboundHeader>>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  /** The gate over which the agent's host can be reached. */
  readonly gate: NetworkGate;
  /** How long the agent may send nothing at all. */
  readonly idleMs?: number;
  readonly reader?: JsonReader | undefined;
}

/** The headers for the secrets that the envelope references; the gate fills them in. */
function headersFor(refs: ReturnType<typeof credentialRefs>): Record<string, CredentialUse> {
  return {
    ...(refs.credential !== undefined && { authorization: new CredentialUse(refs.credential) }),
    ...(refs.apiKey !== undefined && { 'x-api-key': new CredentialUse(refs.apiKey) }),
  };
}

/** The failure for a response whose status is not a success. */
async function refusalOf({ status, headers, body }: InboundAnswer, now: Date): Promise<Failure | undefined> {
  if (status >= 300 && status < 400) {
    const message = `The agent answered with a redirect (${status}), which is not followed.`;
    return { ...failure('agent_failed', { status }, message), retryable: false };
  }
  if (status < 200 || status >= 300) {
    const wait = retryAfterMs(headerOf({ headers }, 'retry-after'), now);
    const details = {
      status,
      excerpt: redacted(await beginningOf({ body }, MAX_EXCERPT)),
      ...(wait !== undefined && { retry_after: Math.ceil(wait / 1000) }),
    };
    const message = `The agent answered with HTTP status ${status}.`;
    return { ...failure('agent_failed', details, message), retryable: isPassingStatus(status) };
  }
  return undefined;
}

function wrongType(contentType: string | undefined): string {
  return `The agent answered with ${JSON.stringify(contentType?.slice(0, 100))}; expected application/json, text/event-stream or application/x-ndjson.`;
}

const HEADERS = { 'content-type': 'application/json', accept: ACCEPT, 'accept-encoding': 'identity' };
const MAX_EXCERPT = 1024;
/** The limit on the agent's response to an answer. The response is read, but not used. */
const MOST_REPLIED = 1024 * 1024;
/** The time the agent has to accept an answer. */
const REPLY_MS = 30_000;
const TEN_MINUTES = 600_000;
const LONGEST_MS = 24 * 3_600_000;
