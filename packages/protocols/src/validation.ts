import { UTC_DATE_TIME } from './formats.ts';
import { nearest } from './nearest.ts';
import type { Issue } from './outcome.ts';
import { pointerTo, segmentsOf, valueAt } from './pointer.ts';
import type { JsonSchema } from './schema.ts';
import { isTimestamp } from './time.ts';

/** A validator compiled ahead of time from a schema. It puts its findings into `errors`, as Ajv does. */
export interface Validator {
  (value: unknown): boolean;
  errors?: readonly ValidatorError[] | null;
}

export interface ValidatorError {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * Every problem that the schema finds in the value, worded; empty if it is valid. At most a hundred are
 * reported, and the compiled validators stop collecting there too.
 */
export function issuesOf(validate: Validator, schema: JsonSchema, value: unknown): readonly Issue[] {
  if (validate(value)) return NONE;
  const errors = errorsOf(validate);
  const issues = issuesFrom(errors, schema, value);
  return errors.length < MOST_PROBLEMS ? issues : [...issues, MORE_PROBLEMS];
}

/** Takes the latest findings of a validator, at most a hundred, so that it does not retain them. */
export function errorsOf(validate: Validator): readonly ValidatorError[] {
  const errors = (validate.errors ?? []).slice(0, MOST_PROBLEMS).filter((error) => error !== undefined);
  validate.errors = null;
  return errors;
}

/** The errors as worded issues. */
export function issuesFrom(errors: readonly ValidatorError[], schema: JsonSchema, value: unknown): Issue[] {
  const informative = errors.filter((error) => !ENVELOPING.has(error.keyword));
  // A schema that failed only by a wrapping keyword still needs a message.
  return (informative.length > 0 ? informative : errors.slice(0, 1)).map((error) => issueOf(error, schema, value));
}

function issueOf(error: ValidatorError, schema: JsonSchema, root: unknown): Issue {
  const subject: Subject = { error, schema, value: valueAt(root, error.instancePath), pointer: error.instancePath };
  return (WORDING[error.keyword] ?? otherwise)(subject);
}

interface Subject {
  readonly error: ValidatorError;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly pointer: string;
}

/** One line for each keyword our schemas use: what was expected, what was received, the nearest fix. */
const WORDING: Readonly<Record<string, (subject: Subject) => Issue>> = {
  required: ({ error, pointer }) => {
    const name = String(error.params['missingProperty']);
    return { pointer: pointerTo(pointer, name), code: 'required', message: `${name} is required but missing` };
  },
  additionalProperties: ({ error, schema, pointer }) => {
    const name = String(error.params['additionalProperty']);
    const known = knownProperties(schema, error.schemaPath);
    const close = nearest(name, known ?? []);
    return {
      pointer: pointerTo(pointer, name),
      code: 'unknown_field',
      message: `${clip(name)} is not a known field${known === undefined ? '' : `; expected ${list(known)}`}`,
      suggestion: close === undefined ? `remove ${clip(name)}` : `did you mean ${close}?`,
    };
  },
  type: ({ error, value, pointer }) => {
    const types = [error.params['type']].flat().map(String);
    return issue(pointer, 'type', `must be ${types.map(withArticle).join(' or ')}`, value);
  },
  enum: ({ error, value, pointer }) => {
    const allowed = error.params['allowedValues'] as readonly unknown[];
    const words = allowed.filter((word) => typeof word === 'string');
    const close = typeof value === 'string' ? nearest(value, words) : undefined;
    const found = issue(pointer, 'enum', `must be one of ${list(allowed.map(show))}`, value);
    return close === undefined ? found : { ...found, suggestion: `did you mean ${show(close)}?` };
  },
  const: ({ error, value, pointer }) => issue(pointer, 'const', `must be ${show(error.params['allowedValue'])}`, value),
  pattern: ({ error, value, pointer }) =>
    issue(pointer, 'pattern', `must match ${String(error.params['pattern'])}`, value),
  format: ({ error, value, pointer }) => {
    const format = String(error.params['format']);
    // One pass checked two rules; this finds the one that failed.
    if (format === UTC_DATE_TIME.together && isTimestamp(String(value))) {
      return issue(pointer, 'pattern', `must match ${UTC_DATE_TIME.pattern}`, value);
    }
    return issue(pointer, 'format', `must be ${FORMATS[format] ?? format}`, value);
  },
  minLength: ({ error, value, pointer }) => {
    const message = `must have at least ${plural(error.params['limit'], 'character')}`;
    return issue(pointer, 'too_short', message, value);
  },
  maxLength: ({ error, value, pointer }) => {
    const message = `must have at most ${plural(error.params['limit'], 'character')}`;
    return issue(pointer, 'too_long', message, `${[...String(value)].length} characters`, String);
  },
  minItems: ({ error, value, pointer }) => counted(pointer, 'too_few', 'at least', error, value, 'item'),
  maxItems: ({ error, value, pointer }) => counted(pointer, 'too_many', 'at most', error, value, 'item'),
  minProperties: ({ error, value, pointer }) => counted(pointer, 'too_few', 'at least', error, value, 'member'),
  maxProperties: ({ error, value, pointer }) => counted(pointer, 'too_many', 'at most', error, value, 'member'),
  minimum: ({ error, value, pointer }) =>
    issue(pointer, 'too_small', `must be at least ${error.params['limit']}`, value),
  maximum: ({ error, value, pointer }) =>
    issue(pointer, 'too_large', `must be at most ${error.params['limit']}`, value),
  exclusiveMinimum: ({ error, value, pointer }) =>
    issue(pointer, 'too_small', `must be more than ${error.params['limit']}`, value),
  exclusiveMaximum: ({ error, value, pointer }) =>
    issue(pointer, 'too_large', `must be less than ${error.params['limit']}`, value),
  uniqueItems: ({ error, pointer }) => ({
    pointer,
    code: 'repeated_item',
    message: `${nameOf(pointer)} must not repeat items; items ${error.params['j']} and ${error.params['i']} are equal`,
  }),
  not: ({ value, pointer }) => issue(pointer, 'forbidden', 'must not have this form', value),
};

function otherwise({ error, value, pointer }: Subject): Issue {
  return issue(pointer, error.keyword, `must satisfy ${error.keyword}`, value);
}

function issue(pointer: string, code: string, expected: string, value: unknown, word = show): Issue {
  return { pointer, code, message: `${nameOf(pointer)} ${expected}; got ${word(value)}` };
}

function counted(
  pointer: string,
  code: string,
  bound: string,
  error: ValidatorError,
  value: unknown,
  what: string,
): Issue {
  const count = Object.keys(value as object).length;
  return issue(pointer, code, `must have ${bound} ${plural(error.params['limit'], what)}`, count, String);
}

/** The readable name of the field; the whole message has none. */
function nameOf(pointer: string): string {
  const segments = segmentsOf(pointer);
  // An item has no name, so the nearest name above it is used, as in `tags[2]`.
  const named = segments.findLastIndex((segment) => !/^\d+$/.test(segment));
  const items = segments.slice(named + 1).map((index) => `[${index}]`);
  if (named === -1) return items.length === 0 ? 'the message' : `item ${items.join('')}`;
  return clip(segments[named] ?? '') + items.join('');
}

/** A value, readable and on one line. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${plural(value.length, 'item')}`;
  if (typeof value === 'object' && value !== null)
    return `an object with ${plural(Object.keys(value).length, 'member')}`;
  // Only the visible part of a long text is processed.
  return clip(JSON.stringify(typeof value === 'string' ? value.slice(0, LONGEST_SHOWN + 1) : value));
}

/** A caller's text, shortened without splitting a character. */
export function clip(text: string, longest = LONGEST_SHOWN): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The properties beside the failed `additionalProperties`; `undefined` if they are in another file. */
function knownProperties(schema: JsonSchema, schemaPath: string): string[] | undefined {
  if (!schemaPath.startsWith('#')) return undefined;
  const parent = schemaPath.slice(schemaPath.indexOf('#') + 1).replace(/\/additionalProperties$/, '');
  const properties = valueAt(schema, `${decodeURIComponent(parent)}/properties`);
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}

function list(words: readonly string[]): string {
  return words.length === 0 ? 'none' : words.join(', ');
}

function plural(count: unknown, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function withArticle(type: string): string {
  return type === 'null' ? 'null' : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'an RFC 3339 time such as 2026-03-28T12:00:00.000Z',
  'utc-date-time': 'an RFC 3339 time such as 2026-03-28T12:00:00.000Z',
  uri: 'an absolute URI such as https://agent.example/a2a',
};

/** Keywords that fail only because something below them failed. */
const ENVELOPING: ReadonlySet<string> = new Set(['if', 'allOf', 'anyOf', 'oneOf']);
const NONE: readonly Issue[] = [];
const LONGEST_SHOWN = 80;

/** The limit of reported problems. */
export const MOST_PROBLEMS = 100;
export const MORE_PROBLEMS: Issue = {
  pointer: '',
  code: 'more_problems',
  message: `the message has ${MOST_PROBLEMS} problems or more; the rest is not listed`,
};
