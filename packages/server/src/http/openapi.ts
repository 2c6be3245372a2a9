import { isObject, type Json, type JsonObject, type JsonSchema, SCHEMA_BASE } from '@dragoman/protocols';
import { PROBLEM_TYPE } from './problem.ts';
import { publishedSchema } from './published-schema.ts';
import type { Access, Route, RouteBody, RouteParameter } from './route.ts';

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

/** The OpenAPI 3.1 document of a table of routes. */
export function openApi(routes: readonly Route[], info: ApiInfo): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const schemas: Record<string, Json> = { Problem: PROBLEM_SCHEMA };
  for (const route of routes) {
    const { path, names } = readPattern(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, names, schemas) };
  }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'http://json-schema.org/draft-07/schema#',
    info: { ...info },
    paths,
    components: { schemas, securitySchemes: SECURITY_SCHEMES },
  };
}

function operation(route: Route, names: readonly string[], schemas: Record<string, Json>): JsonObject {
  const parameters = [...names.map(pathParameter), ...(route.parameters ?? []).map(parameter)];
  const answers = Object.entries(route.answers ?? { 'application/json': {} });
  return {
    operationId: operationId(route),
    summary: route.summary,
    security: SECURITY[route.access],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, schemas) }),
    responses: {
      '2XX': {
        description: 'The answer.',
        content: Object.fromEntries(answers.map(([type, schema]) => [type, { schema: placeSchema(schema, schemas) }])),
      },
      default: route.wordFailure === undefined ? PROBLEM : WORDED_FAILURE,
    },
  };
}

function requestBody({ contentTypes, schema, maxBytes }: RouteBody, schemas: Record<string, Json>): JsonObject {
  const media: JsonObject = schema === undefined ? {} : { schema: placeSchema(schema, schemas) };
  return {
    description: `At most ${maxBytes} bytes.`,
    content: Object.fromEntries(contentTypes.map((type) => [type, type === 'application/json' ? media : {}])),
  };
}

/**
 * Lists a schema with an `$id`, or a published schema that is referenced, once under `components`. Other schemas are
 * inlined. The document has no references to the outside, because not every tool follows them.
 */
function placeSchema(given: JsonSchema, schemas: Record<string, Json>): Json {
  const { $ref } = given;
  const schema = typeof $ref === 'string' ? published($ref) : given;
  const { $id } = schema;
  if (typeof $id !== 'string') return withPlaced(schema as JsonObject, schemas);
  const name = $id
    .replace(/\.json$/, '')
    .split('/')
    .slice(-2)
    .join('.');
  schemas[name] = schema as JsonObject;
  return { $ref: `#/components/schemas/${name}` };
}

/** The same schema, with the schemas that it references placed, too. */
function withPlaced(json: Json, schemas: Record<string, Json>): Json {
  if (Array.isArray(json)) return json.map((item) => withPlaced(item, schemas));
  if (!isObject(json)) return json;
  const { $ref } = json;
  if (typeof $ref === 'string' && $ref.startsWith(`${SCHEMA_BASE}/`)) return placeSchema({ $ref }, schemas);
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, withPlaced(value, schemas)]));
}

function published(address: string): JsonSchema {
  const text = publishedSchema(address.slice(SCHEMA_BASE.length + 1));
  if (text === undefined) throw new Error(`no schema is published as ${address}`);
  const { $schema: _, ...schema } = JSON.parse(text) as JsonSchema;
  return schema;
}

/** `/e2a/requests/:request_id` as OpenAPI writes it; a wildcard is the parameter `path`. */
function readPattern(pattern: string): { path: string; names: string[] } {
  const names: string[] = [];
  const segments = pattern.split('/').map((segment) => {
    const name = segment === '*' ? 'path' : /^:(\w+)/.exec(segment)?.[1];
    if (name === undefined) return segment;
    names.push(name);
    return `{${name}}${segment.slice(segment === '*' ? 1 : name.length + 1)}`;
  });
  return { path: segments.join('/'), names };
}

function pathParameter(name: string): Json {
  return { name, in: 'path', required: true, schema: { type: 'string' } };
}

function parameter({ in: place, name, description, required = false, schema }: RouteParameter): Json {
  return { name, in: place, description, required, schema: schema as JsonObject };
}

/** `POST /e2a/agents/:id` is `post_e2a_agents_id`. */
function operationId({ method, path }: Route): string {
  return [method.toLowerCase(), ...path.split(/[^A-Za-z0-9]+/)].filter((word) => word !== '').join('_');
}

const SECURITY: Readonly<Record<Access, Json[]>> = {
  public: [],
  // OpenAPI 3.1, Security Requirement Object: an empty one makes the others optional.
  open: [{}, { agentBearer: [] }, { agentKey: [] }],
  agent: [{ agentBearer: [] }, { agentKey: [] }],
  admin: [{ adminBearer: [] }, { adminKey: [] }],
};

const SECURITY_SCHEMES: JsonObject = {
  agentBearer: { type: 'http', scheme: 'bearer', description: "An agent's key." },
  agentKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: "An agent's key." },
  adminBearer: { type: 'http', scheme: 'bearer', description: 'The admin key.' },
  adminKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The admin key.' },
};

const PROBLEM: JsonObject = {
  description: 'Why the request failed.',
  content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
};

const WORDED_FAILURE: JsonObject = {
  description: 'Why the request failed, in the format of this protocol.',
  content: { 'application/json': { schema: { type: 'object' } } },
};

const PROBLEM_SCHEMA: JsonObject = {
  description: 'RFC 9457.',
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'issues', 'suggestions'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', description: 'Stable: match on this.' },
    issues: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'code', 'message'],
        properties: {
          pointer: { type: 'string', description: 'RFC 6901.' },
          code: { type: 'string' },
          message: { type: 'string' },
          suggestion: { type: 'string' },
          offset: { type: 'integer' },
        },
      },
    },
    suggestions: { type: 'array', items: { type: 'string' } },
    retry_after: { type: 'integer', description: 'Seconds.' },
    instance: { type: 'string', description: 'Names this occurrence in the log.' },
  },
};
