import { isObject, type Json, type JsonObject } from '../../json.ts';
import type { GivenAnswer, NewQuestion, Question, QuestionAnswer, QuestionOption } from '../question.ts';
import { respellAcp } from './spelling.ts';

/** The body of the frame that asks: the question as ACP's request, with the whole question beside it. */
export function questionBody(question: Question, sessionId: string | null): JsonObject {
  const { question_id: id } = question;
  const session = sessionId === null ? {} : { session_id: sessionId };
  return { id, ...(isConsent(question) ? permissionRequest : elicitation)(question, session), question };
}

/** Whether ACP asks the question with `session/request_permission`: a permission or a plan. */
export function isConsent({ kind }: Pick<Question, 'kind'>): boolean {
  return kind === 'permission' || kind === 'plan';
}

function permissionRequest(question: Question, session: JsonObject): JsonObject {
  const options = (question.options ?? []).map(({ id, name, kind }) => ({
    option_id: id,
    name,
    kind: kind === 'choice' ? 'allow_once' : kind,
  }));
  return { method: 'session/request_permission', params: { ...session, tool_call: toolCallOf(question), options } };
}

/** ACP's permission request is about a tool call; for a question without one, the question itself takes that place. */
function toolCallOf({ question_id: id, title, description, subject }: Question): JsonObject {
  const shown = [description, subject?.command, subject?.text].filter((text) => text !== undefined && text !== '');
  return {
    tool_call_id: subject?.tool_call_id ?? id,
    title,
    ...(subject?.tool_kind !== undefined && { kind: subject.tool_kind }),
    ...(subject?.type === 'command' && { kind: 'execute' }),
    status: 'pending',
    ...(subject?.input !== undefined && { raw_input: subject.input }),
    ...(shown.length > 0 && { content: [{ type: 'content', content: { type: 'text', text: shown.join('\n\n') } }] }),
  };
}

function elicitation(question: Question, session: JsonObject): JsonObject {
  const { question_id: id, title, description, url } = question;
  const message = description === undefined || description === '' ? title : `${title}\n\n${description}`;
  const params =
    url === undefined ? { mode: 'form', requested_schema: formOf(question) } : { mode: 'url', url, elicitation_id: id };
  return { method: 'elicitation/create', params: { ...session, message, ...params } };
}

/** The form of a question. A choice has a form with one field. */
function formOf({ schema, options = [] }: Question): JsonObject {
  if (schema !== undefined) return schema as JsonObject;
  if (options.length === 0) return { type: 'object', properties: {} };
  const oneOf = options.map(({ id, name }) => ({ const: id, title: name }));
  return { type: 'object', properties: { [CHOICE]: { type: 'string', oneOf } }, required: [CHOICE] };
}

/** The question in a request of an ACP agent; `undefined` for other requests, such as for a file. */
export function questionFromAcpRequest(method: string, given: JsonObject): NewQuestion | undefined {
  const params = respellAcp(given, 'snake_case');
  if (method === 'session/request_permission') return permissionOf(params);
  if (method !== 'elicitation/create' && method !== 'session/elicitation') return undefined;
  const { message, url, requested_schema: schema } = params;
  const [title, description] = titleOf(message, 'The agent asks for input.');
  if (typeof url === 'string') return { kind: 'url', title, ...description, url };
  return { kind: 'form', title, ...description, schema: flatForm(schema) };
}

function permissionOf({ tool_call: call, options }: JsonObject): NewQuestion {
  const tool = isObject(call) ? call : {};
  const [title] = titleOf(tool['title'], 'The agent asks for permission.');
  const { tool_call_id: id, kind, raw_input: input } = tool;
  const text = textIn(tool['content']);
  return {
    kind: 'permission',
    title,
    ...(text !== '' && { description: text.slice(0, LONGEST_DESCRIPTION) }),
    subject: {
      type: 'tool_call',
      ...(typeof id === 'string' && id !== '' && { tool_call_id: id.slice(0, 256) }),
      name: title,
      ...(typeof kind === 'string' && { tool_kind: kind }),
      ...(input !== undefined && { input }),
    },
    options: Array.isArray(options) ? options.flatMap(optionOf) : [],
  };
}

function optionOf(option: Json): QuestionOption[] {
  if (!isObject(option)) return [];
  const { option_id: id, name, kind } = option;
  if (typeof id !== 'string' || id === '') return [];
  const known = PERMISSION_KINDS.find((one) => one === kind) ?? 'choice';
  return [{ id, name: typeof name === 'string' && name !== '' ? name.slice(0, 500) : id, kind: known }];
}

/** A form with the fields that a person can fill in; a field of another shape is asked for as text. */
function flatForm(schema: Json | undefined): NonNullable<NewQuestion['schema']> {
  const { properties, required } = isObject(schema) ? schema : {};
  const fields = Object.entries(isObject(properties) ? properties : {}).map(([name, field]) => {
    const type = isObject(field) ? FIELD_TYPES.find((one) => one === field['type']) : undefined;
    return [name, isObject(field) && type !== undefined ? { ...field, type } : { type: 'string' as const }] as const;
  });
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
  return { type: 'object', properties: Object.fromEntries(fields), required: needed };
}

/**
 * The answer as the result of ACP's request. A declined permission is answered with its rejecting option, if it has
 * one.
 */
export function acpResultFor(question: Pick<Question, 'kind' | 'options'>, answer: QuestionAnswer): JsonObject {
  const { action, option_id, content } = answer;
  if (!isConsent(question)) return { action: action === 'selected' ? 'accept' : action, ...(content && { content }) };
  const optionId = option_id ?? rejectingOption(question)?.id;
  if (action === 'cancel' || optionId === undefined) return { outcome: { outcome: 'cancelled' } };
  return { outcome: { outcome: 'selected', optionId } };
}

/** The option that rejects a question, if possible only this time. */
export function rejectingOption({ options = [] }: Pick<Question, 'options'>): QuestionOption | undefined {
  return options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always');
}

/** The answer of an ACP client: the result of a request, or the whole JSON-RPC response. An error declines. */
export function answerFromAcpResponse(response: Json): GivenAnswer {
  if (!isObject(response) || response['error'] !== undefined) return { action: 'decline' };
  const { outcome, action, content } = isObject(response['result']) ? response['result'] : response;
  if (isObject(outcome)) {
    const { outcome: word, optionId, option_id: option = optionId } = outcome;
    return word === 'selected' && typeof option === 'string' ? { option_id: option } : { action: 'cancel' };
  }
  if (action === 'accept') return { action, ...(isObject(content) && { content }) };
  return { action: action === 'cancel' ? 'cancel' : 'decline' };
}

function titleOf(text: Json | undefined, otherwise: string): [string, { description?: string }] {
  if (typeof text !== 'string' || text.trim() === '') return [otherwise, {}];
  if (text.length <= LONGEST_TITLE) return [text, {}];
  return [`${text.slice(0, LONGEST_TITLE - 1)}…`, { description: text.slice(0, LONGEST_DESCRIPTION) }];
}

/** The text blocks of a tool call, so that every endpoint can show them. */
function textIn(content: Json | undefined): string {
  if (!Array.isArray(content)) return '';
  const texts = content.flatMap((item) => {
    const block = isObject(item) && isObject(item['content']) ? item['content'] : undefined;
    return block !== undefined && typeof block['text'] === 'string' ? [block['text']] : [];
  });
  return texts.join('\n\n');
}

/** The name of the single field in the form of a choice. */
export const CHOICE = 'choice';
const PERMISSION_KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;
const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'array'] as const;
const LONGEST_TITLE = 1000;
const LONGEST_DESCRIPTION = 16_384;
