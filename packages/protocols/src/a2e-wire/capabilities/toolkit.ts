import {
  type Complete,
  choice,
  flag,
  list,
  object,
  record,
  req_id,
  requiredName,
  strings,
  text,
  textOrNull,
} from '../fields.ts';
import { answer, type Namespace, request } from '../message-row.ts';

export const CONFIGURE_STATUSES = ['ok', 'error', 'partial'] as const;

export const ToolkitDefinition = object(
  {
    name: requiredName,
    alias: text(''),
    description: text(''),
    category: text(''),
    tags: strings,
    icon_svg: textOrNull,
    // JSON Schema of `config` in `toolkit/configure/req`.
    schema: record,
    tools: strings,
    configured: flag(false),
    version: text('1.0.0'),
  },
  ['name'],
);
export type ToolkitDefinition = Complete<typeof ToolkitDefinition>;

export const ToolkitListRequest = object({ filter_kind: text(''), filter_tags: strings });
export const ToolkitListResponse = object({ req_id, toolkits: list(ToolkitDefinition) });
export const ToolkitConfigureRequest = object({ session_id: text(''), toolkit_name: text(''), config: record });
export const ToolkitConfigureResponse = object({
  req_id,
  toolkit_name: text(''),
  status: choice(CONFIGURE_STATUSES, 'ok'),
  message: textOrNull,
});

export const toolkit = {
  capability: 'toolkits',
  types: {
    'toolkit/list/req': request(ToolkitListRequest, 'toolkit/list/resp'),
    'toolkit/list/resp': answer(ToolkitListResponse),
    'toolkit/configure/req': request(ToolkitConfigureRequest, 'toolkit/configure/resp', { changes: true }),
    'toolkit/configure/resp': answer(ToolkitConfigureResponse),
  },
} as const satisfies Namespace;
