import { isObject, type Json } from '@dragoman/protocols';
import { DragomanError } from './dragoman-error.ts';

/** The type of a member of an answer. */
export type MemberKind = 'array' | 'object' | 'string' | 'number' | 'boolean';

/** The members that an answer must have. */
export type Gives<T> = { readonly [Member in keyof T & string]?: MemberKind };

/** The answer, if it has the required members; otherwise throws with a description of what was received. */
export function checkedAnswer<T>(text: string, gives: Gives<T>, outcome: RequestOutcome): T {
  const answer = parsed(text);
  const odd = isObject(answer)
    ? Object.entries<MemberKind | undefined>(gives).find(([member, kind]) => kind !== kindOf(answer[member]))
    : undefined;
  if (isObject(answer) && odd === undefined) return answer as T;
  throw unexpectedAnswer(outcome, odd === undefined ? nameOf(answer, text) : `an object without ${odd[0]}`);
}

/** The error for an answer that is not from a Dragoman server, but from a proxy or another program behind the URL. */
export function unexpectedAnswer({ url, path, status }: RequestOutcome, received: string): DragomanError {
  const place = `${url}${path.replace(/\?.*/s, '')}`;
  return new DragomanError({
    code: 'unexpected_answer',
    message: `${place} answered ${status} with ${received}, which a Dragoman server does not send.`,
    status,
    suggestions: ['check that the url is that of a Dragoman server'],
  });
}

/** A request and the status of its answer. */
export interface RequestOutcome {
  /** The server's URL. */
  readonly url: string;
  /** The path below that URL. */
  readonly path: string;
  readonly status: number;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function kindOf(value: Json | undefined): keyof typeof NAMES | 'undefined' {
  if (value === undefined) return 'undefined';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as MemberKind);
}

function nameOf(answer: Json | undefined, text: string): string {
  const kind = kindOf(answer);
  if (kind !== 'undefined') return NAMES[kind];
  return /^\s*</.test(text) ? 'HTML' : 'something that is not JSON';
}

const NAMES = {
  array: 'an array',
  object: 'an object',
  string: 'a text',
  number: 'a number',
  boolean: 'a boolean',
  null: 'null',
} as const;
