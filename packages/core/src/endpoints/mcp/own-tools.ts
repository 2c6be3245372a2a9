import type { JsonObject, JsonSchema } from '@dragoman/protocols';

const wait_seconds = {
  type: 'number',
  minimum: 0,
  maximum: 240,
  description:
    'How long to wait for the answer. After that the result has the status "working", and get_answer returns the rest. Default: 50.',
} as const;
const request_id = { type: 'string', minLength: 1, description: 'The request_id of an earlier result.' } as const;

/** The arguments of a call to an agent. */
export const AGENT_INPUT: JsonSchema = {
  type: 'object',
  required: ['prompt'],
  properties: {
    prompt: { type: 'string', description: 'The message to the agent.' },
    session: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'The session_id of an earlier answer, to continue that conversation.',
    },
    files: {
      type: 'array',
      items: {
        type: 'object',
        required: ['uri'],
        properties: { uri: { type: 'string' }, name: { type: 'string' }, mime_type: { type: 'string' } },
      },
      description: 'Files the agent should look at.',
    },
    wait_seconds,
  },
  additionalProperties: false,
};

/** The arguments to run or check a workflow from the request. */
export const WORKFLOW_INPUT: JsonSchema = {
  type: 'object',
  required: ['workflow'],
  properties: {
    workflow: { type: ['string', 'array'], description: 'A2E workflow: JSON lines, or an array of messages.' },
    onError: { enum: ['stop', 'continue'] },
    level: { enum: ['strict', 'moderate', 'lenient'] },
    timeout_ms: { type: 'integer', minimum: 1 },
    wait_seconds,
  },
  additionalProperties: false,
};

/** The tools for the answers of calls. Every caller has them. */
export const ANSWER_TOOLS = {
  get_answer: {
    description: 'Returns the answer of a request, or its text so far while it is working.',
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: 'object',
      required: ['request_id'],
      properties: {
        request_id,
        after: {
          type: 'integer',
          minimum: -1,
          description: 'Only text after this frame: "after" of an earlier result. Default: all.',
        },
        wait_seconds,
      },
      additionalProperties: false,
    },
  },
  cancel_request: {
    description: 'Cancels a request that is still working.',
    annotations: { destructiveHint: true, idempotentHint: true },
    inputSchema: { type: 'object', required: ['request_id'], properties: { request_id }, additionalProperties: false },
  },
  answer_question: {
    description:
      'Answers a question of a request with status "input_required". Consent is given by a person, not with this tool.',
    inputSchema: {
      type: 'object',
      required: ['request_id', 'question_id'],
      properties: {
        request_id,
        question_id: { type: 'string', minLength: 1 },
        option: { type: 'string', minLength: 1, description: 'The id of the chosen option.' },
        content: { type: 'object', description: 'The filled form.' },
        wait_seconds,
      },
      additionalProperties: false,
    },
  },
} as const satisfies Record<string, OwnTool>;

/** The tools for finding and calling tools that are not listed. */
export const SEARCH_TOOLS = {
  search_tools: {
    description:
      'Finds tools that are not in the list, with their input schemas. Call one by its name, or with call_tool.',
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: 'object',
      required: ['query'],
      properties: {
        query: { type: 'string', minLength: 1, description: 'Words of its name or description.' },
        limit: { type: 'integer', minimum: 1, maximum: 50, description: 'Default: 10.' },
      },
      additionalProperties: false,
    },
  },
  call_tool: {
    description: 'Calls a tool that search_tools found, for clients that only call listed tools.',
    inputSchema: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1 },
        arguments: { type: 'object', description: 'The arguments, in the form of its input schema.' },
      },
      additionalProperties: false,
    },
  },
} as const satisfies Record<string, OwnTool>;

export interface OwnTool {
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations?: JsonObject;
}

/** No other tool can have one of these names. */
export const OWN_TOOL_NAMES: readonly string[] = [
  ...Object.keys(ANSWER_TOOLS),
  ...Object.keys(SEARCH_TOOLS),
  'check_workflow',
  'run_workflow',
];
