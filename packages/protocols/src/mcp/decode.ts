import * as validators from '../generated/mcp.js';
import type { Json } from '../json.ts';
import { accept, type Outcome, reject } from '../outcome.ts';
import { issuesOf, type Validator } from '../validation.ts';
import {
  CallToolParams,
  CompleteParams,
  GetPromptParams,
  InitializeParams,
  ListenParams,
  PageParams,
  ReadResourceParams,
  TaskParams,
} from './shapes.ts';

/** The params of each method that takes any. */
export interface McpParams {
  initialize: InitializeParams;
  'tools/list': PageParams;
  'tools/call': CallToolParams;
  'resources/list': PageParams;
  'resources/templates/list': PageParams;
  'resources/read': ReadResourceParams;
  'prompts/list': PageParams;
  'prompts/get': GetPromptParams;
  'completion/complete': CompleteParams;
  'subscriptions/listen': ListenParams;
  'tasks/get': TaskParams;
  'tasks/update': TaskParams;
  'tasks/cancel': TaskParams;
}

export function decodeMcpParams<Method extends keyof McpParams>(
  method: Method,
  params: Json,
): Outcome<McpParams[Method]> {
  const { validate, schema } = SHAPES[method];
  const issues = issuesOf(validate, schema, params);
  return issues.length > 0 ? reject(...issues) : accept(params as unknown as McpParams[Method]);
}

const page = { validate: validators.PageParams, schema: PageParams };
const task = { validate: validators.TaskParams, schema: TaskParams };
const SHAPES = {
  initialize: { validate: validators.InitializeParams, schema: InitializeParams },
  'tools/list': page,
  'tools/call': { validate: validators.CallToolParams, schema: CallToolParams },
  'resources/list': page,
  'resources/templates/list': page,
  'resources/read': { validate: validators.ReadResourceParams, schema: ReadResourceParams },
  'prompts/list': page,
  'prompts/get': { validate: validators.GetPromptParams, schema: GetPromptParams },
  'completion/complete': { validate: validators.CompleteParams, schema: CompleteParams },
  'subscriptions/listen': { validate: validators.ListenParams, schema: ListenParams },
  'tasks/get': task,
  'tasks/update': task,
  'tasks/cancel': task,
} satisfies Record<keyof McpParams, { validate: Validator; schema: object }>;
