import { OpaqueObject } from '../schema.ts';
import type { Static } from '../static.ts';

const text = { type: 'string' } as const;
const name = { type: 'string', minLength: 1 } as const;
const _meta = OpaqueObject;

export const InitializeParams = {
  type: 'object',
  required: ['protocolVersion', 'capabilities', 'clientInfo'],
  properties: {
    protocolVersion: text,
    capabilities: OpaqueObject,
    clientInfo: { type: 'object', required: ['name', 'version'], properties: { name: text, version: text } },
    _meta,
  },
} as const;
export type InitializeParams = Static<typeof InitializeParams>;

export const PageParams = { type: 'object', properties: { cursor: text, _meta } } as const;
export type PageParams = Static<typeof PageParams>;

export const CallToolParams = {
  type: 'object',
  required: ['name'],
  properties: {
    name,
    arguments: OpaqueObject,
    inputResponses: OpaqueObject,
    requestState: text,
    _meta,
  },
} as const;
export type CallToolParams = Static<typeof CallToolParams>;

export const ReadResourceParams = { type: 'object', required: ['uri'], properties: { uri: name, _meta } } as const;
export type ReadResourceParams = Static<typeof ReadResourceParams>;

export const GetPromptParams = {
  type: 'object',
  required: ['name'],
  properties: { name, arguments: { type: 'object', additionalProperties: text }, _meta },
} as const;
export type GetPromptParams = Static<typeof GetPromptParams>;

export const CompleteParams = {
  type: 'object',
  required: ['ref', 'argument'],
  properties: {
    ref: {
      type: 'object',
      required: ['type'],
      properties: { type: { enum: ['ref/prompt', 'ref/resource'] }, name: text, uri: text },
    },
    argument: { type: 'object', required: ['name', 'value'], properties: { name: text, value: text } },
    context: {
      type: 'object',
      properties: { arguments: { type: 'object', additionalProperties: text } },
    },
    _meta,
  },
} as const;
export type CompleteParams = Static<typeof CompleteParams>;

export const ListenParams = {
  type: 'object',
  required: ['notifications'],
  properties: {
    notifications: {
      type: 'object',
      properties: {
        toolsListChanged: { type: 'boolean' },
        promptsListChanged: { type: 'boolean' },
        resourcesListChanged: { type: 'boolean' },
        resourceSubscriptions: { type: 'array', items: text },
      },
    },
    _meta,
  },
} as const;
export type ListenParams = Static<typeof ListenParams>;

export const TaskParams = {
  type: 'object',
  required: ['taskId'],
  properties: { taskId: name, inputResponses: OpaqueObject, _meta },
} as const;
export type TaskParams = Static<typeof TaskParams>;
