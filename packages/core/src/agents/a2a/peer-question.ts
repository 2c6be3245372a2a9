import {
  decodeNewQuestion,
  isObject,
  type Json,
  type JsonObject,
  type NewQuestion,
  type QuestionAnswer,
} from '@dragoman/protocols';
import type { MessagePart } from '@dragoman/protocols/lf-a2a';

/** A question of a remote agent, and how its answer is sent back. */
export interface PeerQuestion {
  readonly question: NewQuestion;
  /** The parts of the message that answers the question. */
  answer(given: QuestionAnswer): MessagePart[];
}

/**
 * The question of an INPUT_REQUIRED task: options or a form in its data part, else its text with one field for the answer. The
 * specification defines no shape for questions; this reads Dragoman's and the common ones.
 */
export function questionInStatus(parts: readonly MessagePart[], text: string): PeerQuestion {
  const heading = titleOf(text === '' ? 'The agent needs more input.' : text);
  const data = parts.flatMap((part) => (isObject(part.data) ? [part.data] : []));
  for (const one of data) {
    const question = wholeQuestion(one) ?? choiceIn(one, heading) ?? formIn(one, heading);
    const id = one['question_id'];
    if (question !== undefined) return { question, answer: (given) => partsFor(given, question, id) };
  }
  const schema = { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] } as const;
  const question: NewQuestion = { kind: 'form', ...heading, schema: { ...schema, required: ['answer'] } };
  return { question, answer: (given) => [{ text: textOf(given, given.content?.['answer']) }] };
}

/** The question of an AUTH_REQUIRED task. Nothing is sent back: the agent continues when it has been authorized. */
export function signInOf(parts: readonly MessagePart[], text: string): NewQuestion {
  const links = parts.flatMap(({ data, url }) => (isObject(data) ? [data['url']] : [url]));
  const url = links.find((link) => typeof link === 'string' && /^https?:\/\//.test(link) && link.length <= MOST_URL);
  const heading = titleOf(text === '' ? 'The agent needs an authorization.' : text);
  return { kind: 'auth', ...heading, ...(typeof url === 'string' && { url }) };
}

/** A question of another Dragoman, in its own shape. */
function wholeQuestion(data: JsonObject): NewQuestion | undefined {
  const { kind, title, description, subject, options, schema, url } = data;
  const known = { kind, title, description, subject, options, schema, url };
  const given = Object.entries(known).filter(([, value]) => value !== undefined);
  return questionIf(Object.fromEntries(given) as JsonObject);
}

function choiceIn({ options, choices = options }: JsonObject, heading: Heading): NewQuestion | undefined {
  if (!Array.isArray(choices)) return undefined;
  const read = choices.map((choice): Json => {
    if (!isObject(choice)) return { id: String(choice), name: String(choice), kind: 'choice' };
    const id = choice['id'] ?? choice['optionId'] ?? choice['option_id'] ?? choice['value'] ?? null;
    return { id, name: choice['name'] ?? choice['label'] ?? choice['title'] ?? id, kind: 'choice' };
  });
  return questionIf({ kind: 'choice', ...heading, options: read });
}

function formIn(data: JsonObject, heading: Heading): NewQuestion | undefined {
  const schema = data['schema'] ?? data['requestedSchema'] ?? data['requested_schema'];
  return isObject(schema) ? questionIf({ kind: 'form', ...heading, schema }) : undefined;
}

/** `undefined` for an invalid question: its text is used instead. */
function questionIf(json: JsonObject): NewQuestion | undefined {
  const decoded = decodeNewQuestion(json);
  if (!decoded.ok) return undefined;
  const { kind, options = [], schema } = decoded.value;
  const ids = new Set(options.map(({ id }) => id));
  const isWhole = kind === 'form' ? schema !== undefined : options.length > 0 && ids.size === options.length;
  return isWhole ? decoded.value : undefined;
}

/** Another Dragoman receives the question's id; other agents receive the chosen option as text, or a form as data. */
function partsFor(given: QuestionAnswer, { options }: NewQuestion, id: Json | undefined): MessagePart[] {
  const { action, option_id, content } = given;
  if (typeof id === 'string') {
    const answer = { action, ...(option_id !== undefined && { option_id }), ...(content !== undefined && { content }) };
    return [{ data: { question_id: id, ...answer } }];
  }
  if (options !== undefined || content === undefined) return [{ text: textOf(given, option_id) }];
  return [{ data: content }];
}

function textOf({ action }: QuestionAnswer, chosen: Json | undefined): string {
  if (typeof chosen === 'string') return chosen;
  return action === 'accept' ? 'accepted' : 'The question was declined.';
}

interface Heading {
  readonly title: string;
  readonly description?: string;
}

function titleOf(text: string): Heading {
  if (text.length <= MOST_TITLE) return { title: text };
  return { title: `${text.slice(0, MOST_TITLE - 1)}…`, description: text.slice(0, MOST_DESCRIPTION) };
}

const MOST_TITLE = 1000;
const MOST_DESCRIPTION = 16_384;
const MOST_URL = 2048;
