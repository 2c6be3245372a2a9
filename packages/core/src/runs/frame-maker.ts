import {
  type E2AEnvelope,
  type E2AResponse,
  e2aDialect,
  type Failure,
  newProvenance,
  projectionsFor,
} from '@dragoman/protocols';
import type { Clock, Ids } from '../ports/ports.ts';

/** Makes the frames that answer one envelope: numbered, stamped, with the echoes of the request (E2A §12.4). */
export class FrameMaker {
  readonly #envelope: E2AEnvelope;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ids: Pick<Ids, 'hex' | 'uuid'>;
  #sequence: number;

  constructor({ envelope, clock, ids, from = 0 }: FrameMakerOptions) {
    this.#envelope = envelope;
    this.#clock = clock;
    this.#ids = ids;
    this.#sequence = from;
  }

  chunk(body: E2AResponse['body']): E2AResponse {
    return this.frame({ response_kind: 'e2a.chunk', body });
  }

  complete(result: E2AResponse['body'][string]): E2AResponse {
    return this.frame({ response_kind: 'e2a.complete', is_final: true, status: 'succeeded', body: { result } });
  }

  error(failure: Failure): E2AResponse {
    const stamp = { id: this.#ids.hex(), now: this.#clock.now() };
    const { body } = e2aDialect.fromFailure(failure, this.#envelope, stamp) as E2AResponse;
    return this.frame({ response_kind: 'e2a.error', is_final: true, status: 'failed', body });
  }

  /** Adds the id, sequence, time and echoes to a frame of which the kind, body and end are given. */
  frame(given: Partial<E2AResponse>): E2AResponse {
    const envelope = this.#envelope;
    const timestamp = this.#clock.now().toISOString();
    const frame: E2AResponse = {
      protocol_version: envelope.protocol_version,
      response_id: this.#ids.uuid(),
      request_id: envelope.request_id,
      sequence: this.#sequence++,
      is_final: given.is_final ?? false,
      status: given.status ?? 'in_progress',
      response_kind: given.response_kind ?? '',
      timestamp,
      provenance: given.provenance ?? newProvenance({ converter: 'dragoman', converted_at: timestamp }),
      body: given.body ?? {},
      jsonrpc_id: envelope.jsonrpc_id,
      correlation_id: envelope.correlation_id,
      task_id: given.task_id ?? envelope.task_id,
      context_id: given.context_id ?? envelope.context_id,
      session_id: envelope.session_id,
      message_id: given.message_id ?? envelope.message_id,
      is_stream: envelope.is_stream,
      identity_origin: given.identity_origin ?? 'agent',
      channel: envelope.channel,
      user_id: envelope.user_id,
      agent_ref: envelope.agent_ref,
      source_agent_id: given.source_agent_id ?? envelope.source_agent_id,
      method: envelope.method,
      projections: given.projections ?? {},
      channel_context: given.channel_context ?? {},
      metadata: given.metadata ?? {},
      a2a_metadata: given.a2a_metadata ?? {},
      acp_meta: given.acp_meta ?? {},
      extras: given.extras ?? {},
    };
    const projections = projectionsFor(frame, envelope);
    return projections === frame.projections ? frame : { ...frame, projections };
  }
}

interface FrameMakerOptions {
  readonly envelope: E2AEnvelope;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'hex' | 'uuid'>;
  /** The sequence of the first frame. */
  readonly from?: number;
}
