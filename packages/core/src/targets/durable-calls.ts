import { type E2AResponse, failure, isObject, type Json, type JsonObject } from '@dragoman/protocols';
import { EVENT_KINDS, type EventKind, type ToolResult } from '@dragoman/protocols/a2e-wire';
import type { Engine } from '../engine/engine.ts';
import type { Clock, Ids } from '../ports/ports.ts';
import { failureOf } from '../refusals/refused.ts';
import { wholeAnswer } from '../runs/streamed-text.ts';
import { question } from '../tools/agent-tool.ts';
import type { CallDurably } from '../tools/plugins/tools.ts';
import { LONGEST_CALL_MS } from '../tools/tool-registry.ts';
import { GONE } from '../tools/wire/connection-audit.ts';
import { resultOf } from './ask-target.ts';

/** Runs tool calls of the wire as requests to the hub, which are journaled. */
export function durableCalls({ engine, ids, clock }: { engine: Engine; ids: Ids; clock: Clock }): CallDurably {
  return async ({ definition: { name }, request: requestOf }, call, { args, timeoutMs, streaming }) => {
    const { principal } = call.session;
    const request = requestOf?.(args) ?? { agent: 'tools', method: name, params: args };
    const envelope = { ...question({ ...request, call: { principal, hops: 0 }, ids }), request_id: call.requestId };
    const key = { owner: principal.id, requestId: call.requestId };
    const longest = timeoutMs > 0 ? Math.min(timeoutMs, LONGEST_CALL_MS) : LONGEST_CALL_MS;
    const late = failure('timeout', {}, `The tool did not finish within ${longest / 1000} s.`);
    const cancelTimeout = clock.after(longest, () => engine.runs.end(key, late));
    const forget = call.ending.onEnd(() => {
      if (failureOf(call.ending.reason) !== GONE) engine.runs.cancel(key);
    });
    const startedAt = clock.elapsed();
    const result = (outcome: Partial<ToolResult> & Pick<ToolResult, 'success'>): ToolResult => ({
      tool_name: name,
      data: null,
      summary: null,
      truncated: false,
      exit_code: null,
      error: null,
      error_code: null,
      duration_ms: Math.round((clock.elapsed() - startedAt) * 1000) / 1000,
      events: [],
      ...outcome,
    });
    try {
      const { signal, log } = call;
      const frames = engine.handle(envelope, { principal, signal, log, beside: { counted: true } });
      const final = await wholeAnswer(frames, (frame) => {
        if (streaming) call.event(eventOf(frame));
      });
      if (final === undefined) throw new Error('an answer ended without its final frame');
      return result({ success: true, data: resultOf(final, name) });
    } catch (error) {
      const known = failureOf(error);
      if (known?.code !== 'tool_failed') throw error;
      const { error_code: code, data } = known.details as { readonly error_code?: string; readonly data?: Json };
      return result({ success: false, error: known.message, error_code: code ?? null, data: data ?? null });
    } finally {
      cancelTimeout();
      forget();
    }
  };
}

/** Events of a tool are passed on unchanged; chunks of other targets become `status` events. */
function eventOf({ body }: E2AResponse): { readonly kind: EventKind; readonly data: JsonObject } {
  const { delta_kind = 'custom', delta = null } = body;
  const { event, data } = isObject(delta) ? delta : ({} as JsonObject);
  const kind = EVENT_KINDS.find((one) => one === event);
  if (delta_kind === 'tool' && kind !== undefined) return { kind, data: isObject(data) ? data : {} };
  return { kind: 'status', data: { delta_kind, delta, message: '' } };
}
