import {
  type E2AResponse,
  type ExplainedFrame,
  encodeEnvelope,
  encodeResponse,
  isObject,
  type Json,
  type JsonObject,
  type Projection,
} from '@dragoman/protocols';
import type { MailboxRequest } from '../mailbox/answer.ts';
import { unsaidIn } from './changes.ts';
import { RENDERINGS } from './renderings.ts';

/** Every frame as it was sent: unchanged over E2A, with its projections; converted by any other endpoint. */
export async function wayOut(
  dialect: string | null,
  frames: readonly E2AResponse[],
  request: MailboxRequest,
): Promise<ExplainedFrame[]> {
  const render = dialect === null ? undefined : RENDERINGS[dialect]?.(request, frames);
  const explained: ExplainedFrame[] = [];
  for (const frame of frames) {
    const forms = render === undefined ? projectionsOf(frame) : [[dialect ?? '', await render(frame)] as const];
    explained.push({
      sequence: frame.sequence,
      response_kind: frame.response_kind,
      is_final: frame.is_final,
      frame: encodeResponse(frame),
      projections: forms.map(([name, message]) => projection(name, message, { frame, request })),
    });
  }
  return explained;
}

function projection(
  dialect: string,
  message: Json,
  { frame, request }: { frame: E2AResponse; request: MailboxRequest },
): Projection {
  if (message === null) {
    const why = `${dialect} sends no message for this frame`;
    return { dialect, message, dropped: [{ pointer: '/body', why }], invented: [] };
  }
  const from = [encodeResponse(frame), encodeEnvelope(request.envelope)];
  return {
    dialect,
    message,
    dropped: unsaidIn({ body: frame.body }, [message], () => `${dialect} has no place for it`),
    invented: unsaidIn(message, from, () => `${dialect} adds it`),
  };
}

function projectionsOf({ projections }: E2AResponse): [string, Json][] {
  return Object.entries(projections).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
}
