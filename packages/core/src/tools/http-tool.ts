import { failure, type JsonObject, type JsonSchema, parseJsonBytes } from '@dragoman/protocols';
import { climbs } from '../gate/climbing-path.ts';
import type { InboundAnswer, OutboundRequest } from '../gate/gate.ts';
import { wholeBody } from '../gate/whole-body.ts';
import { isJsonType } from '../json/json-type.ts';
import { Refused } from '../refusals/refused.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import { JsonReader } from '../worker-threads/json-reader.ts';
import { asText } from '../workflow/template.ts';
import type { Backend, ToolBackends } from './configured-tool.ts';
import { FailedOutcome, type ToolOutcome } from './tool.ts';
import type { ConfiguredTool } from './tools-config.ts';
import { urlPart } from './url-part.ts';

/**
 * A tool that an HTTP endpoint answers, through the gate. Arguments that the URL names are inserted there; the others
 * go into the query, or into a JSON body for methods that have one. A status other than 2xx is a failed outcome.
 */
export function httpTool({ name, http }: ConfiguredTool, { gate, reader = new JsonReader() }: ToolBackends): Backend {
  if (gate === undefined) throw new Error(`tool ${name}: outbound requests are not available here`);
  if (http === undefined) throw new Error(`tool ${name}: http is missing`);
  const { url: template, method, headers } = http;
  requireAddress(name, template);
  const sent = Object.fromEntries(
    Object.entries(headers as Record<string, string | { credential: string }>).map(([field, value]) => [
      field,
      typeof value === 'string' ? value : new CredentialUse(value.credential),
    ]),
  );
  return {
    input: inputFor(template),
    async run(args, call) {
      const { url, rest } = filledIn(template, args);
      if (climbs(new URL(url).pathname)) throw climbing(name);
      const inBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
      const request: OutboundRequest = {
        caller: call.principal.id,
        method,
        url,
        allowList: 'allow',
        headers: inBody ? { 'content-type': 'application/json', ...sent } : sent,
        ...(inBody ? { body: { json: rest } } : { query: queryOf(rest) }),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        signal: call.signal,
      };
      const readText: ReadText = (text) =>
        reader.read(text, { caller: `tool ${name}`, waits: true, limits: { numbers: 'finite' } });
      return outcomeOf(await gate.request(request), readText);
    },
  };
}

/** Checked when the tool is opened, because callers could not fix it: each argument fills only one part of the URL. */
function requireAddress(name: string, template: string): void {
  const example = template.replaceAll(BLANK, '1');
  if (/^https?:$/.test(URL.canParse(example) ? new URL(example).protocol : '')) return;
  throw new Error(`tool ${name}: url must be an http or https URL; got ${JSON.stringify(template)}`);
}

/** Arguments are encoded as one segment each, but some servers decode the path before they split it. */
function climbing(name: string): Refused {
  const message = `The arguments of ${name} must not leave the path of its URL: remove ".."`;
  return new Refused(
    failure('invalid_message', { issues: [{ pointer: '/arguments', code: 'pattern', message }] }, `${message}.`),
  );
}

/** The default schema. Arguments named in the URL are required: `/users/{id}` without its id is another path. */
function inputFor(template: string): JsonSchema {
  const path = template.split('?', 1)[0]?.length ?? 0;
  const named = [...template.matchAll(BLANK)].map(({ 1: name = '', index }) => ({ name, isInPath: index < path }));
  return {
    type: 'object',
    required: [...new Set(named.map(({ name }) => name))],
    properties: Object.fromEntries(named.map(({ name, isInPath }) => [name, isInPath ? SEGMENT : VALUE])),
  };
}

/** The URL with its `{name}`s filled in, and the other arguments. */
function filledIn(template: string, args: JsonObject): { url: string; rest: JsonObject } {
  const taken = new Set<string>();
  const url = template.replaceAll(BLANK, (_, name: string) => {
    taken.add(name);
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    return urlPart(name, value ?? '');
  });
  return { url, rest: Object.fromEntries(Object.entries(args).filter(([name]) => !taken.has(name))) };
}

function queryOf(args: JsonObject): [string, string][] {
  return Object.entries(args).flatMap(([name, value]): [string, string][] =>
    Array.isArray(value) ? value.map((item) => [name, asText(item)]) : [[name, asText(value)]],
  );
}

type ReadText = (text: string) => ReturnType<JsonReader['read']>;

async function outcomeOf(answer: InboundAnswer, readText: ReadText): Promise<ToolOutcome> {
  const { status, headers } = answer;
  const bytes = await wholeBody(answer);
  const type = String(headers['content-type'] ?? '');
  const text = textIn(bytes, type);
  const isJson = isJsonType(type) && bytes.length > 0;
  // If the bytes are not text, the parser reports the position of the first invalid one.
  const json = isJson ? await (text === undefined ? parseJsonBytes(bytes) : readText(text)) : undefined;
  const read = json?.ok === true ? json.value : text;
  // For a failed answer, whatever can be read is useful.
  const data = read ?? Buffer.from(bytes).toString('utf8');
  if (status < 200 || status >= 300) {
    return new FailedOutcome(`The endpoint answered ${status}.`, { code: `HTTP_${status}`, data });
  }
  const named = type.slice(0, 100);
  if (json?.ok === false) {
    const words = `The endpoint sent the content type ${named}, but its body is invalid: ${json.issues[0]?.message}`;
    return new FailedOutcome(words, { code: 'NOT_JSON', data });
  }
  if (read !== undefined) return { success: true, data: read };
  const what = type === '' ? 'bytes that are' : `${named}, which is`;
  return new FailedOutcome(`The endpoint answered with ${what} neither JSON nor text.`, { code: 'NOT_TEXT' });
}

/** The text in the declared charset; `undefined` if the bytes are not valid in it. */
function textIn(bytes: Uint8Array, type: string): string | undefined {
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const BLANK = /\{([^{}]+)\}/g;
const VALUE: JsonSchema = { type: ['string', 'number', 'boolean'] };
const SEGMENT: JsonSchema = { ...VALUE, minLength: 1 };
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 5 * 1024 * 1024;
