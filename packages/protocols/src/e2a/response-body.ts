import { JsonRpcId, Opaque, OpaqueObject } from '../schema.ts';
import type { Static } from '../static.ts';
import type { E2AResponse, ResponseKind } from './response.ts';

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const name = { type: 'string', minLength: 1 } as const;

// Every body is open: members a schema does not name are kept as they are.

export const CompleteBody = {
  type: 'object',
  required: ['result'],
  properties: { result: { ...Opaque, description: 'The result.' } },
} as const;
export type CompleteBody = Static<typeof CompleteBody>;

export const DELTA_KINDS = ['text', 'reasoning', 'tool', 'custom'] as const;

export const ChunkBody = {
  type: 'object',
  required: ['delta_kind', 'delta'],
  properties: {
    delta_kind: { enum: DELTA_KINDS, description: 'What the piece is.' },
    delta: { type: ['string', 'object'], description: 'The piece: text, or an object.' },
    mime_type: { ...textOrNull, description: 'The MIME type of the piece.' },
    // The original form of the chunk, in the legacy shape.
    event_type: { ...textOrNull, description: 'The event in the older shape.' },
    source_chunk_type: { ...textOrNull, description: 'The chunk type in the older shape.' },
    role: { ...textOrNull, description: 'Who speaks.' },
    member_name: { ...textOrNull, description: 'Which member of a team speaks.' },
  },
} as const;
export type ChunkBody = Static<typeof ChunkBody>;

/** The error as another protocol reported it. */
export const ExternalError = {
  type: 'object',
  required: ['protocol', 'type', 'payload'],
  properties: {
    protocol: { enum: ['acp', 'a2a'], description: 'The protocol of the original error.' },
    type: { ...text, description: 'Its kind.' },
    payload: { ...OpaqueObject, description: 'The original error.' },
  },
} as const;

export const FrameErrorBody = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: ['string', 'integer'], description: 'A stable code, for example E2A.NOT_FOUND.' },
    message: { ...text, description: 'What went wrong, for people.' },
    details: { ...Opaque, description: 'Details, such as fault, retryable and retry_after.' },
    external: { ...ExternalError, description: 'The error as another protocol reported it.' },
  },
} as const;
export type FrameErrorBody = Static<typeof FrameErrorBody>;

/** The params of an ACP `session/update` notification. */
export const AcpSessionUpdateBody = {
  type: 'object',
  required: ['update'],
  properties: {
    sessionId: { ...textOrNull, description: 'The ACP session.' },
    session_id: { ...textOrNull, description: 'The same in snake case.' },
    // `ACP_SESSION_UPDATE_KINDS` lists the kinds in use; ACP adds more, so the set is open.
    update: {
      type: 'object',
      required: ['sessionUpdate'],
      properties: { sessionUpdate: { ...name, description: 'The kind of update.' } },
      description: 'The update.',
    },
    _meta: { ...OpaqueObject, description: 'Extensions.' },
  },
} as const;
export type AcpSessionUpdateBody = Static<typeof AcpSessionUpdateBody>;

/** The result of an ACP `session/prompt`, in either spelling. */
export const AcpPromptResultBody = {
  type: 'object',
  properties: {
    stop_reason: { ...name, description: 'Why the turn ended.' },
    stopReason: { ...name, description: 'The same, as ACP spells it.' },
    usage: { ...OpaqueObject, description: 'Tokens used.' },
    _meta: { ...OpaqueObject, description: 'Extensions.' },
  },
} as const;
export type AcpPromptResultBody = Static<typeof AcpPromptResultBody>;

export const AcpJsonrpcErrorBody = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'integer', description: 'The JSON-RPC error code.' },
    message: { ...text, description: 'What went wrong.' },
    data: { ...Opaque, description: 'Details.' },
  },
} as const;
export type AcpJsonrpcErrorBody = Static<typeof AcpJsonrpcErrorBody>;

/** A JSON-RPC request of the agent to its ACP client, such as `session/request_permission`. */
export const AcpOutputRequestBody = {
  type: 'object',
  required: ['method'],
  properties: {
    jsonrpc: { const: '2.0', description: 'Always "2.0".' },
    id: { ...JsonRpcId, description: 'The id of the JSON-RPC request.' },
    method: { ...name, description: 'The ACP method, for example session/request_permission.' },
    params: { ...OpaqueObject, description: 'Its parameters.' },
  },
} as const;
export type AcpOutputRequestBody = Static<typeof AcpOutputRequestBody>;

/** A Linux Foundation A2A Task. */
export const A2aTaskBody = {
  type: 'object',
  required: ['id', 'status'],
  properties: {
    id: { ...name, description: 'The task id.' },
    status: {
      type: 'object',
      required: ['state'],
      properties: { state: { ...name, description: 'The A2A state.' } },
      description: 'The state of the task.',
    },
    artifacts: { type: 'array', items: OpaqueObject, description: 'The results.' },
    history: { type: 'array', items: OpaqueObject, description: 'Earlier messages.' },
    metadata: { ...OpaqueObject, description: 'Metadata of the task.' },
  },
} as const;
export type A2aTaskBody = Static<typeof A2aTaskBody>;

/** A Linux Foundation A2A Message. */
export const A2aMessageBody = {
  type: 'object',
  required: ['role', 'parts'],
  properties: {
    message_id: { ...name, description: 'The message id.' },
    messageId: { ...name, description: 'The message id, as A2A spells it.' },
    role: { ...name, description: 'Who speaks.' },
    parts: { type: 'array', items: OpaqueObject, description: 'The content.' },
    metadata: { ...OpaqueObject, description: 'Metadata of the message.' },
  },
} as const;
export type A2aMessageBody = Static<typeof A2aMessageBody>;

/** The four branches of a Linux Foundation A2A StreamResponse. */
export const A2A_STREAM_BRANCHES = ['task', 'message', 'status_update', 'artifact_update'] as const;
export type A2aStreamBranch = (typeof A2A_STREAM_BRANCHES)[number];

export const A2aStreamEventBody = {
  type: 'object',
  required: ['branch', 'payload'],
  properties: {
    branch: { enum: A2A_STREAM_BRANCHES, description: 'Which member of the StreamResponse it is.' },
    payload: { ...OpaqueObject, description: 'The member.' },
  },
} as const;
export type A2aStreamEventBody = Static<typeof A2aStreamEventBody>;

export const CronBody = {
  type: 'object',
  properties: {
    action: { ...textOrNull, description: 'What was done to the schedule.' },
    status: { ...textOrNull, description: 'How it ended.' },
    data: { ...Opaque, description: 'The result.' },
    message: { ...textOrNull, description: 'The result, for people.' },
  },
} as const;
export type CronBody = Static<typeof CronBody>;

export const PlanApprovalBody = {
  type: 'object',
  properties: {
    plan_content: { ...textOrNull, description: 'The plan.' },
    plan_slug: { ...textOrNull, description: 'Its short name.' },
    plan_path: { ...textOrNull, description: 'Its file.' },
    session_id: { ...textOrNull, description: 'The conversation.' },
  },
} as const;
export type PlanApprovalBody = Static<typeof PlanApprovalBody>;

/** The mirror of a request whose method is `ext`. */
export const ExtBody = {
  type: 'object',
  required: ['ext_method'],
  properties: {
    ext_method: { ...name, description: 'The name of the extension method.' },
    params: { ...OpaqueObject, description: 'Its result or parameters.' },
  },
} as const;
export type ExtBody = Static<typeof ExtBody>;

/** The type of `body` for each kind (E2A §12.5). Bodies of other kinds are not interpreted. */
export const RESPONSE_BODIES = {
  'e2a.complete': CompleteBody,
  'e2a.chunk': ChunkBody,
  'e2a.error': FrameErrorBody,
  'acp.session_update': AcpSessionUpdateBody,
  'acp.prompt_result': AcpPromptResultBody,
  'acp.jsonrpc_error': AcpJsonrpcErrorBody,
  'acp.output_request': AcpOutputRequestBody,
  'a2a.task': A2aTaskBody,
  'a2a.message': A2aMessageBody,
  'a2a.stream_event': A2aStreamEventBody,
  cron: CronBody,
  'plan.approval_required': PlanApprovalBody,
  ext: ExtBody,
} as const satisfies Record<ResponseKind, object>;

/**
 * An answer record by its kind: `response_kind` determines the type of `body`. Bodies are open, and so is the set of
 * kinds: a frame of an unlisted kind reaches the `default` of a `switch`.
 */
export type E2AFrame = {
  [Kind in ResponseKind]: Omit<E2AResponse, 'response_kind' | 'body'> & {
    response_kind: Kind;
    body: Static<(typeof RESPONSE_BODIES)[Kind]>;
  };
}[ResponseKind];
