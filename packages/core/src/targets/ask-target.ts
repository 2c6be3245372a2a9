import {
  type E2AResponse,
  errorIn,
  type Failure,
  failure,
  isObject,
  type Json,
  type JsonObject,
  newEnvelope,
  newProvenance,
} from '@dragoman/protocols';
import type { Engine } from '../engine/engine.ts';
import { SUSPENDED } from '../executions/live-execution.ts';
import type { AskTarget } from '../executions/target-asks.ts';
import type { Clock, Log } from '../ports/ports.ts';
import { Refused, refuse } from '../refusals/refused.ts';
import { LOST } from '../runs/active-run.ts';
import { wholeAnswer } from '../runs/streamed-text.ts';

/** Sends a workflow's call to a target as a request of its caller, recorded and limited like any other. */
export function askTarget({ engine, clock, log }: { engine: Engine; clock: Clock; log: Log }): AskTarget {
  return async ({ requestId, target, method, params, hops, timeoutMs, carries }, { principal, signal }) => {
    // Data fetched with a credential may only go to agents that the operator has configured.
    const [label] = carries;
    if (label !== undefined && engine.router.find(target)?.isForeign === true) {
      refuse(
        'forbidden',
        { from: label.from },
        `Data fetched with a credential cannot go to the foreign agent ${target}.`,
      );
    }
    const envelope = newEnvelope({
      request_id: requestId,
      method,
      params,
      agent_ref: { id: target },
      source_agent_id: principal.kind === 'agent' ? principal.id : null,
      identity_origin: 'agent',
      is_stream: true,
      provenance: newProvenance({ source_protocol: 'e2a', converter: 'dragoman' }),
      channel_context: { hops },
    });
    const key = { owner: principal.id, requestId };
    const cancel = () => {
      if (signal.reason !== LOST && signal.reason !== SUSPENDED) void engine.runs.cancel(key);
    };
    let isLate = false;
    const forget = clock.after(timeoutMs, () => {
      isLate = true;
      cancel();
    });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const final = await wholeAnswer(engine.handle(envelope, { principal, signal, log, beside: { counted: true } }));
      if (final === undefined) refuse('agent_failed', {}, `${target} ended without an answer.`);
      if (isLate) refuse('timeout', {}, `${target} did not answer within ${timeoutMs / 1000} s.`);
      return resultOf(final, target);
    } finally {
      forget();
      signal.removeEventListener('abort', cancel);
    }
  };
}

/** The result in a final frame. Throws `Refused` if the frame is an error. */
export function resultOf({ response_kind: kind, status, body }: E2AResponse, target: string): Json {
  if (kind !== 'e2a.error' && status !== 'failed') return body['result'] ?? body;
  throw new Refused(failureFrom(body, `${target} failed.`));
}

/** One of our failures if the code is ours; any other code is an error of the target. */
function failureFrom(body: JsonObject, otherwise: string): Failure {
  const { code, message, details } = body;
  const { failure: known, retryable, retryAfter } = errorIn(body);
  const reported = {
    ...(isObject(details) && details),
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
    ...(known === undefined && typeof code === 'string' && { code }),
  };
  const made = failure(known ?? 'agent_failed', reported, typeof message === 'string' ? message : otherwise);
  return { ...made, retryable: retryable ?? made.retryable };
}
