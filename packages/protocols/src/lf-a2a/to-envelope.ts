import { envelopeFromA2aSendMessage } from '../e2a/adapters/a2a.ts';
import type { E2AEnvelope } from '../e2a/envelope.ts';
import type { JsonObject } from '../json.ts';
import type { A2aVersion } from './operations.ts';
import type { Message, MessagePart, SendMessageRequest } from './shapes.ts';
import type { A2aBinding } from './wording.ts';

export interface SendDetails {
  /** The id of the task, which is the id of the request. */
  readonly taskId: string;
  /** The context of the message, or a new one if it names none. */
  readonly contextId: string;
  readonly agentId: string | undefined;
  /** The caller if it is an agent, otherwise null. */
  readonly callingAgentId: string | null;
  readonly jsonrpcId: E2AEnvelope['jsonrpc_id'];
  readonly binding: A2aBinding;
  readonly version: A2aVersion;
  readonly now: Date;
}

/**
 * SendMessage or SendStreamingMessage as an envelope. Both run as streams, so that another client can read the answer
 * to a unary call frame by frame. The push configuration, which has secrets, stays with the endpoint.
 */
export function sendEnvelope(request: SendMessageRequest, details: SendDetails): E2AEnvelope {
  const { taskPushNotificationConfig: _, ...configuration } = request.configuration ?? {};
  const { binding, version, now, taskId, contextId, agentId, callingAgentId } = details;
  const envelope = envelopeFromA2aSendMessage({
    message_body: request.message as unknown as JsonObject,
    configuration: configuration as JsonObject,
    metadata: request.metadata ?? {},
    request_id: taskId,
    context_id: contextId,
    session_id: contextId,
    task_id: taskId,
    channel: 'a2a',
    agent_ref: agentId === undefined ? null : { id: agentId },
    source_agent_id: callingAgentId,
    is_stream: true,
    now,
    // Not part of the request: a retry of the same message has another JSON-RPC id, and may use another binding.
    details: {
      endpoint: 'lf-a2a',
      binding,
      a2a_version: version,
      jsonrpc_id: details.jsonrpcId,
      ...(request.tenant !== undefined && { tenant: request.tenant }),
    },
  });
  addContents(envelope.params, request.message);
  return envelope;
}

/** Puts the text, data and files of a message where agents of other protocols look for them. */
function addContents(params: JsonObject, { parts }: Message): void {
  const { text } = params;
  if (text !== undefined) params['content'] = text;
  const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]));
  if (data.length > 0) params['data'] = data;
  const files = parts.flatMap(fileOf);
  if (files.length > 0) params['files'] = files;
}

/** A file that is named by its URL (E2A §5). A file that was sent with its bytes is in the content blocks. */
function fileOf({ url, filename, mediaType }: MessagePart): JsonObject[] {
  if (url === undefined) return [];
  return [
    {
      uri: url,
      ...(filename !== undefined && { name: filename }),
      ...(mediaType !== undefined && { mime_type: mediaType }),
    },
  ];
}
