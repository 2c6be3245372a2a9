import { FORBIDDEN_KEYS } from '../forbidden-key.ts';
import { show } from '../validation.ts';

/**
 * A place in the data model: `/workflow/users/0/name`, `/workflow/users[0].name` or a mix of both (A2E workflow,
 * Path Syntax). `/store/<key>` is what StoreData wrote, `/loop/item` and `/loop/index` exist inside a Loop.
 */
export interface Path {
  readonly root: PathRoot;
  readonly segments: readonly PathSegment[];
  /** The root and every part, one after another: two spellings of one place have equal keys. */
  readonly keys: readonly string[];
}

/** The text between two slashes. A reader tries `literal` as one key first, then `parts` in order. */
export interface PathSegment {
  readonly literal: string;
  readonly parts: readonly (string | number)[];
}

export type PathRoot = (typeof PATH_ROOTS)[number];

/** Why a text is not a path, worded to follow the field's name: "must start with /workflow/". */
export interface PathFault {
  readonly code: 'path_root' | 'path_syntax' | 'forbidden_key' | 'index_range' | 'too_short' | 'too_long';
  readonly expected: string;
  readonly suggestion?: string;
}

export type PathOutcome =
  | { readonly ok: true; readonly path: Path }
  | { readonly ok: false; readonly fault: PathFault };

export const PATH_ROOTS = ['workflow', 'store', 'loop'] as const;

export function parsePath(text: string): PathOutcome {
  if (text.length > LONGEST_PATH) return refuse('too_long', `must have at most ${LONGEST_PATH} characters`);
  const stray = invalidCharacter(text);
  if (stray !== undefined) return refuse('path_syntax', `must not contain ${show(stray)}`);
  const [before, first, ...rest] = text.split('/');
  const root = PATH_ROOTS.find((name) => name === first);
  if (before !== '' || root === undefined) return refuse('path_root', STARTS, startFix(text));
  if (rest.length === 0) return refuse('path_root', `must name something below /${root}`, `such as /${root}/result`);
  const segments: PathSegment[] = [];
  for (const literal of rest) {
    const segment = parseSegment(literal);
    if ('code' in segment) return { ok: false, fault: segment };
    segments.push(segment);
  }
  const keys = [root, ...segments.flatMap((segment) => segment.parts.map(String))];
  if (keys.length > DEEPEST_PATH + 1)
    return refuse('too_long', `must have at most ${DEEPEST_PATH} steps below /${root}`);
  return { ok: true, path: { root, segments, keys } };
}

/** The path as it was written. */
export function formatPath(path: Path): string {
  return `/${path.root}/${path.segments.map((segment) => segment.literal).join('/')}`;
}

/** The canonical path, with a slash before every step: equal for all spellings of one place. */
export function canonicalPath(path: Path): string {
  return `/${path.keys.join('/')}`;
}

/** Whether `inner` is `outer` or a place below it, in any spelling. */
export function covers(outer: Path, inner: Path): boolean {
  return outer.keys.length <= inner.keys.length && outer.keys.every((key, at) => key === inner.keys[at]);
}

/** Why a text is not a field name such as `status` or `address.city`; `undefined` if it is one. */
export function fieldFault(text: string): PathFault | undefined {
  if (text === '') return fault('too_short', 'must name a field');
  if (text.length > LONGEST_PATH) return fault('too_long', `must have at most ${LONGEST_PATH} characters`);
  if (text.split('/').some((part) => part.split(/[.[\]]/).some((name) => FORBIDDEN_KEYS.has(name))))
    return THROUGH_PROTOTYPE;
  return undefined;
}

/** Fast path for the plain spelling; other spellings are parsed. */
export function isPlainPath(text: string): boolean {
  return text.length <= PLAIN_LENGTH && PLAIN_PATH.test(text) && !mayPassPrototype(text);
}

/** A coarse test for `__proto__`, `constructor` and `prototype`; if true, the text must be checked exactly. */
export function mayPassPrototype(text: string): boolean {
  return PROTOTYPE_NAME.test(text);
}

function parseSegment(literal: string): PathSegment | PathFault {
  if (literal === '') return fault('path_syntax', 'must have a name between two slashes', 'remove the extra slash');
  if (FORBIDDEN_KEYS.has(literal)) return THROUGH_PROTOTYPE;
  if (!/[.[\]]/.test(literal)) return { literal, parts: [literal] };
  const parts: (string | number)[] = [];
  for (let at = 0; at < literal.length; ) {
    STEP.lastIndex = at;
    const step = STEP.exec(literal);
    const [whole = '', index, name] = step ?? [];
    if (index !== undefined) {
      const fault = indexFault(index);
      if (fault !== undefined) return fault;
      parts.push(Number(index));
    } else if (name !== undefined && whole.startsWith('.') === at > 0) {
      if (FORBIDDEN_KEYS.has(name)) return THROUGH_PROTOTYPE;
      parts.push(name);
    } else {
      return fault('path_syntax', `must continue ${show(literal.slice(0, at))} with .name or [index]`);
    }
    at += whole.length;
  }
  return { literal, parts };
}

function indexFault(index: string): PathFault | undefined {
  if (FORBIDDEN_KEYS.has(index.replaceAll(/["']/g, ''))) return THROUGH_PROTOTYPE;
  if (/^-?\d+$/.test(index)) {
    if (index.length <= 6 && Number(index) >= 0 && Number(index) <= HIGHEST_INDEX) return undefined;
    return fault('index_range', `must have an index from 0 to ${HIGHEST_INDEX} in brackets`);
  }
  return fault('path_syntax', 'must have an index such as [0] in brackets', 'write a name as .name');
}

/** The first control character or brace. Braces belong to templates. */
function invalidCharacter(text: string): string | undefined {
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (code < 0x20 || code === 0x7f || character === '{' || character === '}') return character;
  }
  return undefined;
}

function startFix(text: string): string | undefined {
  const name = text.replace(/^[/.]+/, '');
  if (!/^[A-Za-z0-9_-]/.test(name)) return undefined;
  const [root] = name.split('/');
  const hasRoot = name.includes('/') && PATH_ROOTS.some((each) => each === root);
  return `did you mean ${hasRoot ? '/' : '/workflow/'}${name}?`;
}

function refuse(code: PathFault['code'], expected: string, suggestion?: string): PathOutcome {
  return { ok: false, fault: fault(code, expected, suggestion) };
}

function fault(code: PathFault['code'], expected: string, suggestion?: string): PathFault {
  return { code, expected, ...(suggestion !== undefined && { suggestion }) };
}

const HIGHEST_INDEX = 100_000;
const LONGEST_PATH = 512;
const DEEPEST_PATH = 32;
const STARTS = 'must start with /workflow/, /store/ or /loop/';
/** The fault of a step, field or index that would reach an object's prototype. */
export const THROUGH_PROTOTYPE = fault('forbidden_key', 'must not pass through __proto__, constructor or prototype');
const STEP = /\[([^[\]]*)\]|\.?([^.[\]]+)/y;
const PLAIN_LENGTH = 128;
const PLAIN_PATH = /^\/(?:workflow|store|loop)(?:\/[A-Za-z0-9_-]+){1,16}$/;
const PROTOTYPE_NAME = /proto|constructor/;
