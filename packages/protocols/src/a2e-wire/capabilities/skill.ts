import {
  anything,
  type Complete,
  choice,
  flag,
  integerOrNull,
  list,
  object,
  record,
  recordOrNull,
  records,
  req_id,
  requiredName,
  seconds,
  strings,
  text,
  textOrNull,
  time,
} from '../fields.ts';
import { EVENT_FIELDS } from '../message.ts';
import { answer, event, type Namespace, request } from '../message-row.ts';

export const SKILL_STATUSES = ['Created', 'Blocked', 'Published', 'Archived'] as const;

export const SkillDefinition = object(
  {
    name: requiredName,
    version: text(''),
    description: text(''),
    triggers: strings,
    tools: { type: ['array', 'null'], default: null },
    toolkits: { type: ['array', 'null'], default: null },
    status: choice(SKILL_STATUSES, 'Published'),
    input_schema: record,
    output_schema: record,
    instructions: textOrNull,
    file_path: textOrNull,
    llm_config: recordOrNull,
    when_to_use: text(''),
    argument_hint: text(''),
    source: text(''),
    category: textOrNull,
    tags: { type: ['array', 'null'], items: { type: 'string' }, default: null },
    max_turns: integerOrNull,
    timeout_seconds: integerOrNull,
    icon: textOrNull,
    metadata: recordOrNull,
  },
  ['name'],
);
export type SkillDefinition = Complete<typeof SkillDefinition>;

export const SkillResult = {
  ...object(
    {
      success: { type: 'boolean' },
      data: anything,
      summary: anything,
      truncated: { type: ['boolean', 'null'], default: false },
      error: textOrNull,
      error_code: textOrNull,
      duration_ms: { type: 'number', minimum: 0, default: 0 },
      events: records,
    },
    ['success'],
  ),
  // Null when the call failed before the skill could give a result.
  type: ['object', 'null'],
  default: null,
} as const;
export type SkillResult = Complete<typeof SkillResult>;

export const SkillDiscoverRequest = object({ filter_tags: strings, filter_categories: strings });
export const SkillDiscoverResponse = object({ req_id, skills: list(SkillDefinition) });

export const SkillCallRequest = object({
  name: text(''),
  arguments: record,
  correlation_id: text(''),
  timeout: seconds(60),
  streaming: flag(true),
  // May hold credentials of a model provider: never log it.
  llm_override: recordOrNull,
  metadata: record,
});

export const SkillCallResponse = object({
  req_id,
  name: text(''),
  data: SkillResult,
  // `{code, message, retryable}` when the call itself failed.
  error: recordOrNull,
  created_at: time,
});

export const SkillEvent = object(EVENT_FIELDS);

export const skill = {
  capability: 'skill',
  types: {
    'skill/discover/req': request(SkillDiscoverRequest, 'skill/discover/resp'),
    'skill/discover/resp': answer(SkillDiscoverResponse),
    'skill/call/req': request(SkillCallRequest, 'skill/call/resp', { events: 'skill/event' }),
    'skill/call/resp': answer(SkillCallResponse),
    'skill/event': event(SkillEvent),
  },
} as const satisfies Namespace;
