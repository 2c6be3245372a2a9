import {
  accept,
  type Issue,
  isObject,
  type Json,
  type JsonObject,
  type Outcome,
  pointerTo,
  reject,
  valueAt,
} from '@dragoman/protocols';
import { API_METHODS } from '@dragoman/protocols/a2e-workflow';
import { spelledOut } from '../search/spelled-out.ts';
import { cutTo } from '../text/cut-to.ts';
import type { ApiShape } from './definition.ts';

/**
 * An API from its OpenAPI 3 or Swagger 2 document: the first server, and every operation with its description.
 * Endpoints that an ApiCall could not call are left out, with a warning.
 */
export function apiFromOpenApi(document: Json): Outcome<Partial<ApiShape>> {
  if (!isObject(document) || !isVersion(document)) return reject(NOT_OPENAPI);
  const paths = document['paths'];
  if (!isObject(paths)) return reject(NO_PATHS);
  const warnings: Issue[] = [];
  const endpoints = Object.entries(paths).flatMap(([path, item]) =>
    endpointsOf(path, resolved(item, document), warnings),
  );
  const url = serverOf(document);
  const description = descriptionOf(document);
  return accept(
    { ...(url !== undefined && { base_url: url }), ...(description !== '' && { description }), endpoints },
    warnings,
  );
}

type Endpoint = NonNullable<ApiShape['endpoints']>[number];

function endpointsOf(path: string, item: Json, warnings: Issue[]): Endpoint[] {
  if (!isObject(item)) return [];
  const pointer = pointerTo('/paths', path);
  if (!/^\/[^?#\s\\]{0,511}$/.test(path)) {
    warnings.push({ pointer, code: 'left_out', message: `${path} is left out: it is not a valid endpoint path` });
    return [];
  }
  if (Object.hasOwn(item, '$ref')) {
    const message = `${path} is partly or completely left out: its $ref does not exist in the document`;
    warnings.push({ pointer, code: 'left_out', message });
  }
  return Object.entries(item).flatMap(([name, operation]) => {
    if (!isObject(operation) || !OPERATIONS.has(name)) return [];
    const method = API_METHODS.find((known) => known === name.toUpperCase());
    if (method === undefined) {
      const message = `${name.toUpperCase()} ${path} is left out: an ApiCall has ${API_METHODS.join(', ')}`;
      warnings.push({ pointer: `${pointer}/${name}`, code: 'left_out', message });
      return [];
    }
    const description = wordsOf(operation);
    return [{ method, path, ...(description !== '' && { description }) }];
  });
}

/**
 * A path item with its `$ref` resolved. Members beside the `$ref` win; a `$ref` without a target in the document stays.
 */
function resolved(item: Json, document: JsonObject): Json {
  let current = item;
  for (let hops = 0; isObject(current) && hops < MOST_HOPS; hops++) {
    const { $ref: reference, ...beside } = current;
    if (typeof reference !== 'string') return current;
    const target = reference.startsWith('#/') ? valueAt(document, decodedPointer(reference)) : undefined;
    if (!isObject(target)) return current;
    current = { ...target, ...beside };
  }
  return current;
}

/** RFC 6901 §6: in a fragment a pointer is percent-encoded. */
function decodedPointer(reference: string): string {
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    return reference.slice(1);
  }
}

/**
 * Summary and description; only the description if it begins with the summary; the operation's id if both are missing.
 */
function wordsOf(operation: JsonObject): string {
  const summary = textOf(operation['summary']);
  const description = textOf(operation['description']);
  if (summary === '' && description === '') return spelledOut(textOf(operation['operationId']));
  const whole = description.startsWith(summary) ? description : `${ended(summary)} ${description}`;
  return shortened(whole.trim());
}

function descriptionOf({ info }: JsonObject): string {
  if (!isObject(info)) return '';
  return shortened(`${ended(textOf(info['title']))} ${textOf(info['description'])}`.trim());
}

function serverOf(document: JsonObject): string | undefined {
  const { servers, host, basePath, schemes } = document;
  if (Array.isArray(servers)) {
    const [server] = servers;
    return isObject(server) && typeof server['url'] === 'string'
      ? filled(server['url'], server['variables'])
      : undefined;
  }
  if (typeof host !== 'string') return undefined;
  const scheme = Array.isArray(schemes) && !schemes.includes('https') ? textOf(schemes[0] ?? null) : 'https';
  return `${scheme}://${host}${textOf(basePath)}`;
}

/** A server's URL with the default of each variable. */
function filled(url: string, variables: Json | undefined): string {
  return url.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isObject(variable) && typeof variable['default'] === 'string' ? variable['default'] : whole;
  });
}

function isVersion({ openapi, swagger }: JsonObject): boolean {
  return (typeof openapi === 'string' && openapi.startsWith('3.')) || swagger === '2.0';
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim() : '';
}

function ended(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}

function shortened(text: string): string {
  return text.length <= LONGEST ? text : `${cutTo(text, LONGEST - 1)}…`;
}

/** The most characters that a description may have. */
const LONGEST = 4000;

/** The most references that are followed one after the other, because they may form a circle. */
const MOST_HOPS = 16;

/** The members of a path item that are operations. Its other members apply to all operations. */
const OPERATIONS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

const NOT_OPENAPI: Issue = {
  pointer: '/openapi',
  code: 'not_openapi',
  message: 'openapi must be an OpenAPI 3 document (openapi: "3.…") or a Swagger 2 document (swagger: "2.0")',
};

const NO_PATHS: Issue = {
  pointer: '/openapi/paths',
  code: 'required',
  message: 'openapi must have paths',
};
