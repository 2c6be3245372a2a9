import { hash } from 'node:crypto';
import { type E2AEnvelope, type E2AResponse, type JsonObject, newEnvelope, newProvenance } from '@dragoman/protocols';
import { frameOf } from '../agents/answering.ts';
import type { Executions } from '../executions/executions.ts';
import type { ExecutionEventRecord } from '../executions/live-execution.ts';
import type { StartedExecution } from '../executions/started-execution.ts';
import { recordedRequest } from '../executions/workflow-request.ts';
import { FrameMaker } from '../runs/frame-maker.ts';
import { frameText } from '../runs/frame-text.ts';
import { PAGE_BYTES } from '../runs/journal-pages.ts';
import type { FindRequest } from '../runs/known-request.ts';
import { type FrameSource, Reading } from '../runs/reading.ts';
import type { ExecutionRow } from '../store/executions.ts';
import type { FrameRow } from '../store/store.ts';
import { partOf } from './execution-parts.ts';

/**
 * Executions as requests to the target `workflows`, with the execution id as the request id. Their frames are computed
 * from the recorded events and end, and are the same each time.
 */
export function executionRequests(executions: Pick<Executions, 'follow' | 'cancel' | 'questionState'>): FindRequest {
  return async ({ owner, requestId }) => {
    const key = { owner, executionId: requestId };
    const execution = await executions.follow(key);
    if (execution === undefined) return undefined;
    return {
      envelope: envelopeOf(execution.row),
      acceptedAt: execution.row.acceptedAt,
      isFinished: execution.row.end !== null,
      read: (after, signal) => {
        const frames = () => framesOf(execution, after, execution.events(after, signal));
        return new Reading({ open: async () => sourceOf(frames()), after });
      },
      page: async ({ after, limit = Number.POSITIVE_INFINITY, maxBytes = PAGE_BYTES }) => {
        const rows: FrameRow[] = [];
        let left = maxBytes;
        for await (const frame of framesOf(execution, after, execution.eventsSoFar(after))) {
          const row = rowOf(frame);
          left -= row.text.length;
          if (left < 0 && rows.length > 0) break;
          if (rows.push(row) >= limit) break;
        }
        return rows;
      },
      cancel: async () => (await executions.cancel(key))?.cancelled === true,
      questionState: (questionId) => executions.questionState(key, questionId),
    };
  };
}

function envelopeOf({ owner, executionId, request, acceptedAt }: ExecutionRow): E2AEnvelope {
  const { body: params, by } = recordedRequest(request);
  const { hops = 0 } = by;
  return newEnvelope({
    request_id: executionId,
    method: 'workflow.execute',
    params,
    agent_ref: { id: 'workflows' },
    source_agent_id: owner,
    identity_origin: 'agent',
    is_stream: true,
    timestamp: new Date(acceptedAt).toISOString(),
    provenance: newProvenance({ source_protocol: 'a2e-workflow', converter: 'dragoman' }),
    ...(hops !== 0 && { channel_context: { hops } }),
  });
}

/** Events have no times of their own, so every frame but the last has the time at which the execution was accepted. */
async function* framesOf(
  execution: StartedExecution,
  after: number,
  events: AsyncIterable<ExecutionEventRecord>,
): AsyncGenerator<E2AResponse, void, undefined> {
  const { owner, executionId, acceptedAt } = execution.row;
  let now = new Date(acceptedAt);
  let sequence = after + 1;
  const hex = () => hash('sha256', `${owner}\n${executionId}\n${sequence}`, 'hex').slice(0, 32);
  const uuid = () => hex().replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-8$3-8$4-$5');
  const envelope = envelopeOf(execution.row);
  const maker = new FrameMaker({ envelope, clock: { now: () => now }, ids: { hex, uuid }, from: sequence });
  for await (const event of events) {
    if (event.event === 'execution-finished') now = endOf(event.data) ?? now;
    yield frameOf(partOf(event), maker);
    sequence += 1;
  }
}

function endOf(data: string): Date | undefined {
  const { completed_at: end } = (JSON.parse(data) as { readonly result: JsonObject }).result;
  return typeof end === 'string' ? new Date(end) : undefined;
}

function sourceOf(frames: AsyncGenerator<E2AResponse, void, undefined>): FrameSource {
  let ahead: Promise<IteratorResult<E2AResponse, void>> | undefined;
  return {
    ready: async () => {
      ahead ??= frames.next();
      await ahead;
    },
    after: async () => {
      const { done, value } = await (ahead ?? frames.next());
      ahead = undefined;
      return done === true ? [] : [rowOf(value as E2AResponse)];
    },
  };
}

function rowOf(frame: E2AResponse): FrameRow {
  return { sequence: frame.sequence, isFinal: frame.is_final, text: frameText(frame) };
}
