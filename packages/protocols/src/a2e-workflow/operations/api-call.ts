import { FORBIDDEN_KEYS, forbiddenKey } from '../../forbidden-key.ts';
import { isObject, type Json } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import { pointerTo } from '../../pointer.ts';
import { Opaque } from '../../schema.ts';
import type { Static } from '../../static.ts';
import { show } from '../../validation.ts';
import { HeaderValue, OutputPathText, QueryValue } from '../value.ts';
import type { OperationDescription } from './description.ts';

/** The HTTP methods of ApiCall. */
export const API_METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;

/** The timeout in milliseconds if `timeout` is absent. */
export const DEFAULT_TIMEOUT = 30_000;

export const ApiCallConfig = {
  type: 'object',
  required: ['method', 'url', 'outputPath'],
  properties: {
    method: { enum: API_METHODS },
    url: { type: 'string', minLength: 1, maxLength: 4096 },
    headers: { type: 'object', additionalProperties: HeaderValue, maxProperties: 64 },
    query: { type: 'object', additionalProperties: QueryValue, maxProperties: 64 },
    body: Opaque,
    // Declares that a repeat has no second effect, so that a failed POST may be retried.
    idempotencyKey: { type: 'string', minLength: 1, maxLength: 255 },
    // Declares the same without a key: the API itself is idempotent.
    idempotent: { type: 'boolean' },
    outputPath: OutputPathText,
    timeout: { type: 'integer', minimum: 1000, maximum: 300_000 },
  },
  additionalProperties: false,
} as const;
export type ApiCallConfig = Static<typeof ApiCallConfig>;

export const ApiCall: OperationDescription = {
  summary: 'Sends an HTTP request and stores the parsed answer.',
  category: 'api',
  schema: ApiCallConfig,
  members: [
    { at: '/url', is: 'url' },
    { at: '/headers/*', is: 'value', place: 'header' },
    { at: '/query/*', is: 'value', place: 'query' },
    { at: '/body', is: 'value', place: 'body' },
    { at: '/idempotencyKey', is: 'template' },
    { at: '/outputPath', is: 'output' },
    { at: '/timeout', is: 'duration', bound: 'most' },
  ],
  aliases: [
    {
      at: '/method',
      canonical: (value) => API_METHODS.find((method) => typeof value === 'string' && value.toUpperCase() === method),
    },
  ],
  inspect: (config) => {
    const issues: Issue[] = [];
    // The spec allows a body for POST and PUT; PATCH and DELETE may have one too, GET has none.
    if (config['method'] === 'GET' && Object.hasOwn(config, 'body')) issues.push(BODY_WITH_GET);
    const headers = config['headers'];
    if (isObject(headers)) for (const name in headers) addHeaderIssue(name, headers[name], issues);
    return issues;
  },
};

function addHeaderIssue(name: string, value: Json | undefined, issues: Issue[]): void {
  const isNamed = USUAL_HEADERS.has(name) || (TOKEN.test(name) && !FORBIDDEN_KEYS.has(name));
  if (isNamed && (typeof value !== 'string' || isOneLine(value))) return;
  const pointer = pointerTo('/headers', name);
  if (FORBIDDEN_KEYS.has(name)) {
    issues.push(forbiddenKey(pointer));
  } else if (!TOKEN.test(name)) {
    const message = `headers must have names of letters, digits and !#$%&'*+-.^_\`|~; got ${show(name)}`;
    issues.push({ pointer, code: 'header_name', message });
  } else {
    issues.push({ pointer, code: 'header_value', message: `${name} must be one line; got ${show(value)}` });
  }
}

/** A field value must not contain CR, LF or NUL (RFC 9110 §5.5). */
function isOneLine(value: string): boolean {
  return !LINE_END.test(value);
}

const BODY_WITH_GET: Issue = {
  pointer: '/body',
  code: 'body_not_allowed',
  message: 'body is sent with POST, PUT, PATCH and DELETE only; method is "GET"',
  suggestion: 'put the values into query, or change the method',
};

/** A field name is a token (RFC 9110 §5.1). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/;
const LINE_END = /[\n\r\0]/;

/** Names that need no further check. */
const USUAL_HEADERS: ReadonlySet<string> = new Set(['Authorization', 'Content-Type', 'Accept', 'X-API-Key']);
