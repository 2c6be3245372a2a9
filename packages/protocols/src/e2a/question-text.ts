import { isObject, parseJson } from '../json.ts';
import type { GivenAnswer, Question } from './question.ts';

/** A question as a text that stands alone, with how to answer it: for protocols that have only text. */
export function questionText(question: Question): string {
  const { title, options = [], url } = question;
  const choices = options.map(({ id, name }, index) => `${index + 1}. ${name} (${id})`);
  return [
    title,
    ...questionDetails(question),
    ...(url === undefined ? [] : [url]),
    ...choices,
    answerHelp(question),
  ].join('\n');
}

/** The details of a question, such as the arguments of a call. */
export function questionDetails({ description, subject }: Pick<Question, 'description' | 'subject'>): string[] {
  const { command, text, input } = subject ?? {};
  const args = input === undefined ? '' : JSON.stringify(input);
  const shown = args.length > MOST_ARGUMENTS ? `${args.slice(0, MOST_ARGUMENTS)}… (${args.length} characters)` : args;
  return [description, command, text, shown].flatMap((one) => (one === undefined || one === '' ? [] : [one]));
}

/** A sentence that explains how to answer a question with a text. */
export function answerHelp({ options = [], schema }: Question): string {
  if (options.length > 0) return `Answer with one of: ${options.map(({ id }) => id).join(', ')}.`;
  if (schema === undefined) return 'Answer with "accept" or "decline".';
  const fields = Object.keys(schema.properties);
  if (fields.length === 1) return 'Answer with a text, or with "decline".';
  return `Answer with a JSON object that has ${fields.join(', ')}, or with "decline".`;
}

/**
 * The answer that a text gives: an option's id, name or number, a JSON object, `accept` or `decline`; otherwise
 * `undefined`.
 */
export function answerFromText(question: Question, text: string): GivenAnswer | undefined {
  const words = text.trim();
  const folded = words.toLowerCase();
  const { options = [], schema } = question;
  if (folded === 'cancel' || folded === 'decline') {
    const option = options.find(({ id }) => id === words);
    return option === undefined ? { action: folded } : { option_id: option.id };
  }
  if (options.length > 0) {
    const option =
      options.find(({ id }) => id === words) ??
      options.find(({ id, name }) => id.toLowerCase() === folded || name.toLowerCase() === folded) ??
      (/^\d{1,2}$/.test(words) ? options[Number(words) - 1] : undefined);
    return option === undefined ? undefined : { option_id: option.id };
  }
  if (schema === undefined) return folded === 'accept' ? { action: 'accept' } : undefined;
  return formAnswer(Object.entries(schema.properties), words);
}

function formAnswer(
  fields: readonly (readonly [string, { readonly type: string }])[],
  words: string,
): GivenAnswer | undefined {
  const json = parseJson(words);
  if (json.ok && isObject(json.value)) return { action: 'accept', content: json.value };
  const [only, ...others] = fields;
  if (only === undefined || others.length > 0 || words === '') return undefined;
  const [name, { type }] = only;
  const value = type === 'string' || !json.ok ? words : json.value;
  return { action: 'accept', content: { [name]: value } };
}

const MOST_ARGUMENTS = 4000;
