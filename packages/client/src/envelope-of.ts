import { type E2AEnvelope, newEnvelope } from '@dragoman/protocols';
import { invalidArgument, objectGiven, shown } from './invalid-argument.ts';
import { newRequestId } from './request-id.ts';

/** The input: text for an agent, or any part of an envelope. */
export type SendInput = string | Partial<E2AEnvelope>;

export interface EnvelopeOptions {
  /** The target. Default: the server's default agent. */
  readonly agent?: string | undefined;
  /** The session that the request belongs to. */
  readonly session?: string | undefined;
  /** Whether to receive every frame, or only the final one. Default: every frame. */
  readonly stream?: boolean | undefined;
  /** Default: a new id. */
  readonly requestId?: string | undefined;
  /** A stable id for the request, for callers that may repeat it after their own restart. */
  readonly idempotencyKey?: string | undefined;
  /** The order in which your own requests get their turn while they wait for the agent. Default: normal. */
  readonly priority?: RequestPriority | undefined;
  /** A request that has not started by this time ends with `E2A.EXPIRED`. */
  readonly expiresAt?: Date | undefined;
}

export const REQUEST_PRIORITIES = ['urgent', 'normal', 'low'] as const;
export type RequestPriority = (typeof REQUEST_PRIORITIES)[number];

/** The envelope to send. Options take precedence over the input. */
export function envelopeOf(input: SendInput, options: EnvelopeOptions): E2AEnvelope & { request_id: string } {
  const given: Partial<E2AEnvelope> =
    typeof input === 'string' ? { params: { content: input } } : objectGiven(input, 'input', WHAT_IS_SENT);
  const { agent, session, stream, requestId, idempotencyKey, priority, expiresAt } = options;
  return {
    ...newEnvelope(given),
    method: given.method === undefined ? 'chat.send' : given.method,
    request_id: requestId ?? given.request_id ?? idOf(idempotencyKey) ?? newRequestId(),
    session_id: session ?? given.session_id ?? null,
    is_stream: stream ?? given.is_stream ?? true,
    agent_ref: agent === undefined ? (given.agent_ref ?? null) : { ...given.agent_ref, id: agent },
    channel_context: {
      ...given.channel_context,
      ...(priority !== undefined && { priority }),
      ...(expiresAt !== undefined && { expires_at: expiresAt.toISOString() }),
    },
  };
}

/** The id that the server would make from the key. A repeat must have the same body, so it needs the same id. */
function idOf(idempotencyKey: string | undefined): string | undefined {
  if (idempotencyKey === undefined) return undefined;
  if (typeof idempotencyKey === 'string' && /^[\x21-\x7e]{1,255}$/.test(idempotencyKey))
    return `idem_${idempotencyKey}`;
  throw invalidArgument(`idempotencyKey must be 1 to 255 visible characters; got ${shown(idempotencyKey)}`);
}

const WHAT_IS_SENT = "{ params: { content: 'Hello' } }, or a text";
