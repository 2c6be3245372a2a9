import {
  type E2AEnvelope,
  type E2AResponse,
  isObject,
  type JsonObject,
  newEnvelope,
  newProvenance,
} from '@dragoman/protocols';
import { MOST_HOPS, TOO_MANY_HOPS } from '../call/hops.ts';
import type { Ids } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import { LOST } from '../runs/active-run.ts';
import { wholeAnswer } from '../runs/streamed-text.ts';
import type { Backend, ToolBackends } from './configured-tool.ts';
import type { ToolCall, ToolOutcome } from './tool.ts';
import type { ConfiguredTool } from './tools-config.ts';

/** A tool that an agent answers: the arguments are the params of the request, and the final frame has the result. */
export function agentTool({ agent = '' }: ConfiguredTool, { engine, ids }: ToolBackends): Backend {
  return {
    input: {
      type: 'object',
      required: ['content'],
      properties: { content: { type: 'string', description: 'The message to the agent.' } },
    },
    run: (params, call) => toolResultOf(engine, question({ agent, params, call, ids }), call),
  };
}

/** The request to an agent on behalf of the caller of a tool or a skill. */
export function question({ agent, method = 'chat.send', params, call, ids }: Question): E2AEnvelope {
  const { principal, hops } = call;
  if (hops > MOST_HOPS) refuse('invalid_message', {}, TOO_MANY_HOPS);
  return newEnvelope({
    request_id: `req_${ids.sortable()}`,
    method,
    params,
    agent_ref: { id: agent },
    source_agent_id: principal.kind === 'agent' ? principal.id : null,
    identity_origin: 'agent',
    is_stream: true,
    provenance: newProvenance({ source_protocol: 'a2e-wire', converter: 'dragoman' }),
    ...(hops > 0 && { channel_context: { hops } }),
  });
}

interface Question {
  readonly agent: string;
  readonly method?: string;
  readonly params: JsonObject;
  readonly call: Pick<ToolCall, 'principal' | 'hops'>;
  readonly ids: Ids;
}

/** Asks the agent and waits for its last frame. The caller needs its own permission for the agent. */
export async function toolResultOf(
  engine: ToolBackends['engine'],
  envelope: E2AEnvelope,
  call: Pick<ToolCall, 'principal' | 'signal' | 'status' | 'ask'>,
): Promise<ToolOutcome> {
  const { principal, signal, ask } = call;
  // A run continues without a reader, so ending the call must cancel it.
  const cancel = () => {
    if (signal.reason !== LOST) void engine.runs.cancel({ owner: principal.id, requestId: envelope.request_id ?? '' });
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const frames = engine.handle(envelope, { principal, signal, ask, log: SILENT, beside: COUNTED });
    const final = await wholeAnswer(frames, (frame) => emit(frame, call));
    if (final === undefined) throw new Error('The agent ended without an answer.');
    return outcomeOf(final);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Reports a frame before the final one as a status event, complete and readable. */
function emit({ response_kind, body }: E2AResponse, call: Pick<ToolCall, 'status'>): void {
  const { delta_kind = 'custom', delta = null } = body;
  call.status('', response_kind === 'e2a.chunk' ? { delta_kind, delta } : { response_kind, body });
}

function outcomeOf({ response_kind, status, body }: E2AResponse): ToolOutcome {
  if (response_kind === 'e2a.error' || status === 'failed') {
    const { code, message } = body;
    const text = typeof message === 'string' ? message : 'The agent failed.';
    throw Object.assign(new Error(text), typeof code === 'string' ? { code } : {});
  }
  const result = body['result'] ?? body;
  return { success: true, data: isObject(result) ? { ...result } : result };
}

const COUNTED = { counted: true } as const;
const ignore = () => {};
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };
