import { type Json, type JsonObject, type JsonSchema, type Static, segmentsOf } from '@dragoman/protocols';
import { compileSchema } from '../../schema/compile-schema.ts';
import { MisshapenAnswer } from './mcp-error.ts';

/** Makes a function that checks an answer. It throws `MisshapenAnswer` with the first invalid or missing field. */
function reader<const Schema extends JsonSchema>(schema: Schema): (result: JsonObject) => Static<Schema> {
  const { first } = compileSchema(schema);
  return (result) => {
    if (first(result)) return result as Static<Schema>;
    const { instancePath = '', params } = first.errors?.[0] ?? {};
    const missing = params?.['missingProperty'];
    const path = [...segmentsOf(instancePath), ...(missing === undefined ? [] : [String(missing)])];
    throw new MisshapenAnswer(path.length === 0 ? 'the answer' : path.join('.'));
  };
}

const TEXT = { type: 'string' } as const;
const TEXTS = { type: 'array', items: TEXT } as const;
const FLAG = { type: 'boolean' } as const;
const OBJECT = { type: 'object' } as const;

export const readInitializeResult = reader({
  type: 'object',
  required: ['protocolVersion', 'capabilities', 'serverInfo'],
  properties: {
    protocolVersion: TEXT,
    capabilities: OBJECT,
    serverInfo: { type: 'object', required: ['name', 'version'], properties: { name: TEXT, version: TEXT } },
  },
});
export type InitializeResult = ReturnType<typeof readInitializeResult>;

/** The tools are checked one by one, by `toolIn`. */
export const readToolsPage = reader({
  type: 'object',
  required: ['tools'],
  properties: { tools: { type: 'array', items: {} }, nextCursor: {} },
});

export const readResourcesPage = reader({
  type: 'object',
  required: ['resources'],
  properties: {
    nextCursor: TEXT,
    resources: {
      type: 'array',
      items: {
        type: 'object',
        required: ['uri', 'name'],
        properties: { uri: TEXT, name: TEXT, description: TEXT, mimeType: TEXT, annotations: OBJECT },
      },
    },
  },
});

export const readTemplatesPage = reader({
  type: 'object',
  required: ['resourceTemplates'],
  properties: {
    nextCursor: TEXT,
    resourceTemplates: {
      type: 'array',
      items: {
        type: 'object',
        required: ['uriTemplate', 'name'],
        properties: { uriTemplate: TEXT, name: TEXT, description: TEXT, mimeType: TEXT },
      },
    },
  },
});

export const readResourceContents = reader({
  type: 'object',
  required: ['contents'],
  properties: {
    contents: {
      type: 'array',
      items: {
        type: 'object',
        required: ['uri'],
        properties: { uri: TEXT, mimeType: TEXT, text: TEXT, blob: TEXT },
        not: { properties: { text: false, blob: false } },
      },
    },
  },
});

export const readPromptsPage = reader({
  type: 'object',
  required: ['prompts'],
  properties: {
    nextCursor: TEXT,
    prompts: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: TEXT,
          description: TEXT,
          arguments: {
            type: 'array',
            items: {
              type: 'object',
              required: ['name'],
              properties: { name: TEXT, description: TEXT, required: FLAG },
            },
          },
        },
      },
    },
  },
});

export const readFilledPrompt = reader({
  type: 'object',
  required: ['messages'],
  properties: {
    description: TEXT,
    messages: {
      type: 'array',
      items: {
        type: 'object',
        required: ['role', 'content'],
        properties: { role: { enum: ['user', 'assistant'] }, content: OBJECT },
      },
    },
  },
});

export const readCompletion = reader({
  type: 'object',
  required: ['completion'],
  properties: {
    completion: {
      type: 'object',
      required: ['values'],
      properties: { values: { ...TEXTS, maxItems: 100 }, total: { type: 'integer' }, hasMore: FLAG },
    },
  },
});

const SCHEMA = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { const: 'object' },
    properties: { type: 'object', additionalProperties: { type: ['object', 'array'] } },
    required: TEXTS,
  },
} as const;
const ICON = {
  type: 'object',
  required: ['src'],
  properties: { src: TEXT, mimeType: TEXT, sizes: TEXTS, theme: { enum: ['light', 'dark'] } },
} as const;
const TOOL = {
  type: 'object',
  required: ['name', 'inputSchema'],
  properties: {
    name: TEXT,
    title: TEXT,
    icons: { type: 'array', items: ICON },
    description: TEXT,
    inputSchema: SCHEMA,
    outputSchema: SCHEMA,
    annotations: {
      type: 'object',
      properties: {
        title: TEXT,
        readOnlyHint: FLAG,
        destructiveHint: FLAG,
        idempotentHint: FLAG,
        openWorldHint: FLAG,
      },
    },
    execution: { type: 'object', properties: { taskSupport: { enum: ['required', 'optional', 'forbidden'] } } },
    _meta: OBJECT,
  },
} as const satisfies JsonSchema;
const isTool = compileSchema(TOOL).first;

/**
 * A tool with only the members that MCP defines, so that others do not change its hash; `undefined` if it violates MCP.
 */
export function toolIn(given: Json): JsonObject | undefined {
  if (!isTool(given)) return undefined;
  const { annotations, execution, icons, ...rest } = picked(given as JsonObject, TOOL.properties);
  return {
    ...rest,
    ...(annotations !== undefined && {
      annotations: picked(annotations as JsonObject, TOOL.properties.annotations.properties),
    }),
    ...(execution !== undefined && {
      execution: picked(execution as JsonObject, TOOL.properties.execution.properties),
    }),
    ...(icons !== undefined && { icons: (icons as JsonObject[]).map((icon) => picked(icon, ICON.properties)) }),
  };
}

function picked(given: JsonObject, members: object): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(members, name)));
}
