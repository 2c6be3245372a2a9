import { OpaqueObject } from '../../schema.ts';
import {
  anything,
  type Complete,
  described,
  flag,
  integerOrNull,
  list,
  object,
  recordOrNull,
  records,
  req_id,
  requiredName,
  seconds,
  string,
  strings,
  text,
  textOrNull,
  time,
} from '../fields.ts';
import { EVENT_FIELDS } from '../message.ts';
import { answer, event, type Namespace, request } from '../message-row.ts';

/** One parameter of a tool. A nested parameter is only known to be an object; `input_schema` describes it. */
export const ToolParameter = object(
  {
    name: requiredName,
    type: string,
    description: text(''),
    required: flag(false),
    enum: { type: ['array', 'null'], default: null },
    properties: { type: ['object', 'null'], additionalProperties: { type: 'object' }, default: null },
  },
  ['name', 'type'],
);
export type ToolParameter = Complete<typeof ToolParameter>;

export const ToolDefinition = object(
  {
    name: requiredName,
    description: text(''),
    input_parameters: list(ToolParameter),
    output_parameters: list(ToolParameter),
    streaming: flag(true),
    idempotent: flag(false),
    tags: strings,
    version: text('1.0.0'),
    toolkit: textOrNull,
    defer_loading: flag(false),
    // Our addition: parameter lists cannot express ranges, patterns or items, so the JSON Schemas are sent too.
    input_schema: recordOrNull,
    output_schema: recordOrNull,
  },
  ['name'],
);
export type ToolDefinition = Complete<typeof ToolDefinition>;

export const ToolResult = object(
  {
    success: { type: 'boolean' },
    tool_name: string,
    data: anything,
    summary: anything,
    truncated: { type: ['boolean', 'null'], default: false },
    exit_code: integerOrNull,
    error: textOrNull,
    error_code: textOrNull,
    duration_ms: { type: 'number', minimum: 0, default: 0 },
    events: records,
  },
  ['success', 'tool_name'],
);
export type ToolResult = Complete<typeof ToolResult>;

export const ToolListRequest = object({
  filter_kind: text(''),
  filter_tags: strings,
  query: text(''),
  include_deferred: flag(false),
});
export const ToolListResponse = object({ req_id, tools: list(ToolDefinition) });

export const ToolCallRequest = object(
  {
    session_id: text(''),
    tool_name: text(''),
    // Deliberately without a default: a call without arguments sends {}.
    arguments: OpaqueObject,
    correlation_id: text(''),
    streaming: flag(false),
    timeout: seconds(30),
    // Our addition.
    durable: described('Records the call, so that E2A can read, resume and cancel it under the id of this message.', {
      type: 'boolean',
    }),
  },
  ['arguments'],
);
export const ToolCallResponse = object({ req_id, data: ToolResult, created_at: time }, ['data']);

/** Our addition: stops the call whose message had the id `target_id`. */
export const ToolCancelRequest = object({ target_id: requiredName, reason: text('') }, ['target_id']);
/** `cancelled` is false if the call does not exist or has ended. */
export const ToolCancelResponse = object({ req_id, target_id: text(''), cancelled: flag(false) });

export const ToolEventFields = object(EVENT_FIELDS);

export const tool = {
  capability: 'tools',
  types: {
    'tool/list/req': request(ToolListRequest, 'tool/list/resp'),
    'tool/list/resp': answer(ToolListResponse),
    'tool/call/req': request(ToolCallRequest, 'tool/call/resp', { events: 'tool/event' }),
    'tool/call/resp': answer(ToolCallResponse),
    'tool/cancel/req': request(ToolCancelRequest, 'tool/cancel/resp'),
    'tool/cancel/resp': answer(ToolCancelResponse),
    'tool/event': event(ToolEventFields),
  },
} as const satisfies Namespace;
