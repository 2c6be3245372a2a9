import { CHOICE } from '../e2a/adapters/acp-question.ts';
import type { Question } from '../e2a/question.ts';
import { questionDetails } from '../e2a/question-text.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';

/** A question as an MCP elicitation. */
export function elicitation(question: Question, version: string): JsonObject {
  const { title, url } = question;
  const message = [title, ...questionDetails(question)].join('\n\n');
  const isUrl = url !== undefined;
  // The id with which a server reports the end of a visit was in 2025-11-25 only.
  const visit = {
    mode: 'url',
    message,
    url: url ?? '',
    ...(version === '2025-11-25' && { elicitationId: question.question_id }),
  };
  const mode = version >= '2025-11-25' ? { mode: 'form' } : {};
  const params = isUrl ? visit : { ...mode, message, requestedSchema: formFor(question, version) };
  return { method: 'elicitation/create', params };
}

/**
 * Whether a client can show this question to a person. A client that names no mode supports forms (client features,
 * Elicitation).
 */
export function canElicit({ elicitation: declared }: JsonObject, { url }: Pick<Question, 'url'>): boolean {
  if (!isObject(declared)) return false;
  const hasUrl = isOn(declared['url']);
  return url === undefined ? isOn(declared['form']) || !hasUrl : hasUrl;
}

function isOn(mode: Json | undefined): boolean {
  return mode === true || isObject(mode ?? null);
}

/**
 * The form of a question. Consent and a choice have one field. The names of its values were written differently before
 * 2025-11-25.
 */
function formFor({ schema, options = [] }: Question, version: string): JsonObject {
  if (schema !== undefined) return schema as JsonObject;
  if (options.length === 0) return { type: 'object', properties: {} };
  const ids = options.map(({ id }) => id);
  const names = options.map(({ name }) => name);
  const field =
    version >= '2025-11-25'
      ? { type: 'string', oneOf: options.map(({ id, name }) => ({ const: id, title: name })) }
      : { type: 'string', enum: ids, enumNames: names };
  return { type: 'object', properties: { [CHOICE]: field }, required: [CHOICE] };
}
