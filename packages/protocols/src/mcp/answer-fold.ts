import { needsPerson } from '../e2a/needs-person.ts';
import type { Question } from '../e2a/question.ts';
import { questionText } from '../e2a/question-text.ts';
import { questionEndIn, questionIn } from '../e2a/read-question.ts';
import type { E2AResponse } from '../e2a/response.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { withSuggestions } from './errors.ts';

/** The kind of target decides the form of the result. */
export type McpTargetKind = 'agent' | 'tool' | 'workflow';

export interface AnswerFoldOptions {
  readonly kind: McpTargetKind;
  readonly requestId: string;
  readonly sessionId: string | null;
  /** The tool has an `outputSchema`, which clients check every `structuredContent` against. */
  readonly hasOutputSchema?: boolean | undefined;
}

/**
 * The frames of an answer as the result of `tools/call`. `content` and `structuredContent` each have the whole answer,
 * because some clients show a model only one of them.
 */
export class AnswerFold {
  /** The text of the answer so far. */
  text = '';
  /** The number of frames so far. */
  count = 0;
  /** The sequence of the last frame; -1 before the first. */
  last = -1;
  /** The reported progress, from 0 to 100. */
  percent: number | undefined;
  #words = '';
  readonly #questions = new Map<string, Question>();
  #final: E2AResponse | undefined;
  readonly #options: AnswerFoldOptions;

  constructor(options: AnswerFoldOptions) {
    this.#options = options;
  }

  get isFinal(): boolean {
    return this.#final !== undefined;
  }

  /** The oldest question that waits for a person. */
  get question(): Question | undefined {
    return this.#questions.values().next().value;
  }

  /** The end of the latest text, on one line, as a progress message. */
  get lastWords(): string {
    const line = (this.#words || this.text.slice(-4 * LONGEST_WORDS)).replaceAll(/\s+/g, ' ').trim();
    return line.length <= LONGEST_WORDS ? line : `…${line.slice(1 - LONGEST_WORDS)}`;
  }

  apply(frame: E2AResponse): void {
    this.count += 1;
    this.last = frame.sequence;
    const question = questionIn(frame);
    if (question !== undefined) this.#questions.set(question.question_id, question);
    const ended = questionEndIn(frame);
    if (ended !== undefined) this.#questions.delete(ended.question_id);
    if (frame.is_final) this.#final = frame;
    else if (frame.response_kind === 'e2a.chunk') this.#chunk(frame.body);
  }

  /** The result of the final frame; before it, a result with the status `working`. */
  result(): JsonObject {
    const { requestId } = this.#options;
    const result = this.#final === undefined ? this.#working() : this.#ended(this.#final);
    return { ...result, _meta: { [REQUEST_ID_META]: requestId } };
  }

  #chunk({ delta_kind: kind, delta }: JsonObject): void {
    if (kind === 'text' && typeof delta === 'string') {
      this.text += delta;
      this.#words = '';
      return;
    }
    if (kind === 'reasoning' && typeof delta === 'string') this.#words = delta;
    if (kind !== 'tool' || !isObject(delta)) return;
    const { tool, operationId, status, data } = delta;
    const { message, pct } = isObject(data) ? data : ({} as JsonObject);
    if (typeof pct === 'number') this.percent = pct;
    const named = [tool, operationId].find((name) => typeof name === 'string');
    const news = typeof message === 'string' && message !== '' ? message : typeof status === 'string' ? status : '';
    this.#words = [named, news].filter((word) => word !== undefined && word !== '').join(': ');
  }

  #working(): JsonObject {
    const { requestId, sessionId, hasOutputSchema } = this.#options;
    const { text, last: after } = this;
    const { question } = this;
    const later = `Call get_answer with request_id ${JSON.stringify(requestId)} for the rest.`;
    const next = question === undefined ? `Still working. ${later}` : `${questionHelp(question, requestId)} ${later}`;
    const content = [...(text === '' ? [] : [textBlock(text)]), textBlock(next)];
    if (hasOutputSchema === true) return { content, isError: true };
    const status = question === undefined ? 'working' : 'input_required';
    const open = question === undefined ? {} : { question: question as unknown as JsonObject };
    const answer = { status, request_id: requestId, after, text, ...open };
    return { content, structuredContent: { ...answer, ...(sessionId !== null && { session_id: sessionId }) } };
  }

  #ended({ response_kind: kind, status, body }: E2AResponse): JsonObject {
    if (kind === 'e2a.error' || status === 'failed') return this.#failed(body);
    const result = body['result'] ?? (kind === 'e2a.complete' ? null : body);
    if (this.#options.kind === 'agent') return this.#fromAgent(result);
    if (this.#options.kind === 'tool') return toolResult(result);
    const { requestId: request_id } = this.#options;
    return { content: [textBlock(JSON.stringify(result))], structuredContent: { ...objectOf(result), request_id } };
  }

  #fromAgent(result: Json): JsonObject {
    const { requestId, sessionId } = this.#options;
    const whole = textIn(result);
    const text = this.text === '' ? (whole ?? JSON.stringify(result)) : this.text;
    const isMore = !isNothing(result) && whole === undefined;
    const content = [textBlock(text), ...(isMore && this.text !== '' ? [textBlock(JSON.stringify(result))] : [])];
    return {
      content,
      structuredContent: {
        status: 'completed',
        text,
        ...(isMore && { result }),
        request_id: requestId,
        ...(sessionId !== null && { session_id: sessionId }),
      },
    };
  }

  #failed({ code, message, details }: JsonObject): JsonObject {
    const { kind, requestId, sessionId } = this.#options;
    const { issues, suggestions, data } = objectOf(details ?? null);
    const words = withSuggestions(typeof message === 'string' ? message : 'It failed.', [
      ...texts(issues).slice(1),
      ...(Array.isArray(suggestions) ? suggestions.filter((one) => typeof one === 'string') : []),
    ]);
    const content = [...(this.text === '' ? [] : [textBlock(this.text)]), textBlock(words)];
    if (kind === 'tool') {
      return {
        content: [...content, ...(isNothing(data ?? null) ? [] : [textBlock(JSON.stringify(data))])],
        isError: true,
      };
    }
    const status = code === 'E2A.CANCELLED' ? 'cancelled' : 'failed';
    const failed = { status, code: code ?? null, message: words, ...(this.text !== '' && { text: this.text }) };
    const ids = { request_id: requestId, ...(sessionId !== null && { session_id: sessionId }) };
    return { content, structuredContent: { ...failed, ...ids }, isError: true };
  }
}

/** Explains how to answer a question that the client cannot show. Only a person may give consent, not a model. */
function questionHelp(question: Question, requestId: string): string {
  const { question_id: id } = question;
  const answer = needsPerson(question)
    ? `A person has to answer it: dragoman questions answer ${id}.`
    : `Answer it with answer_question, request_id ${JSON.stringify(requestId)} and question_id ${JSON.stringify(id)}.`;
  return `A question is open:\n${questionText(question)}\n${answer}`;
}

/**
 * A tool's own result: content blocks unchanged, an object as structured content beside its JSON, anything else as
 * text.
 */
function toolResult(result: Json): JsonObject {
  if (typeof result === 'string') return { content: [textBlock(result)] };
  if (Array.isArray(result) && result.length > 0 && result.every(isContentBlock)) return { content: result };
  const content = [textBlock(JSON.stringify(result))];
  return isObject(result) ? { content, structuredContent: result } : { content };
}

/** Whether a value is one of MCP's content blocks and has the members that its type requires. */
export function isContentBlock(value: Json): boolean {
  if (!isObject(value) || typeof value['type'] !== 'string') return false;
  const required = Object.hasOwn(BLOCKS, value['type']) ? BLOCKS[value['type']] : undefined;
  if (value['type'] === 'resource') {
    const { uri, text, blob } = objectOf(value['resource'] ?? null);
    return typeof uri === 'string' && (typeof text === 'string' || typeof blob === 'string');
  }
  return required?.every((member) => typeof value[member] === 'string') === true;
}

export function textBlock(text: string): JsonObject {
  return { type: 'text', text };
}

/** The text of a result that is only text. */
function textIn(result: Json): string | undefined {
  if (typeof result === 'string') return result;
  if (!isObject(result)) return isNothing(result) ? '' : undefined;
  const names = Object.keys(result);
  if (names.length === 0) return '';
  return names.length === 1 && typeof result['text'] === 'string' ? result['text'] : undefined;
}

function isNothing(value: Json): boolean {
  return value === null || value === '' || (isObject(value) && Object.keys(value).length === 0);
}

function objectOf(value: Json): JsonObject {
  return isObject(value) ? value : {};
}

function texts(issues: Json | undefined): string[] {
  return (Array.isArray(issues) ? issues : []).flatMap((issue) => {
    const { message } = objectOf(issue);
    return typeof message === 'string' ? [message] : [];
  });
}

/** The required text members of each block. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
};
const LONGEST_WORDS = 120;
/** In `_meta` of a result: the id of its request. In `_meta` of a call: the id that its request should get. */
export const REQUEST_ID_META = 'dragoman/request_id';
