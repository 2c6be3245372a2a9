import { edited } from '../edit.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { pointerTo } from '../pointer.ts';
import { MOST_PROBLEMS, show } from '../validation.ts';
import type {
  Alias,
  CalleeList,
  CredentialPlace,
  Member,
  OperationDescription,
  Shape,
  ShapeRule,
} from './operations/description.ts';
import { fieldFault, isPlainPath, type Path, parsePath } from './path.ts';
import { hasTemplate, parseTemplate, type TemplateFault } from './template.ts';
import { isPathReference } from './value.ts';

/** The reads, writes, targets and needs of an operation, derived from its configuration and description. */
export interface Uses {
  readonly reads: readonly Read[];
  readonly writes: readonly Write[];
  readonly targets: readonly Target[];
  readonly callees: readonly Callee[];
  readonly credentials: readonly NamedCredential[];
  readonly urls: readonly { readonly pointer: string; readonly text: string }[];
  /** The texts that may contain templates. */
  readonly texts: readonly TemplateText[];
  readonly durations: readonly { readonly pointer: string; readonly ms: number; readonly bound: 'exact' | 'most' }[];
  /** The path of a Loop's current item. */
  readonly itemPath: Path | undefined;
}

export interface TemplateText {
  readonly pointer: string;
  readonly text: string;
  /** Whether `{field}` is a template in this text too. */
  readonly fields: boolean;
}

/** Pointers are relative to the configuration. */
export interface Read {
  readonly pointer: string;
  readonly path: Path;
  readonly needs: readonly Shape[] | undefined;
  /**
   * For a test whether a value exists: the list of operations that run only if it does. `undefined` for other reads.
   */
  readonly presentIn: string | undefined;
}

export interface Write {
  readonly pointer: string;
  readonly path: Path;
  readonly gives: readonly Shape[] | undefined;
  /** The operation can turn a non-empty array into an empty one. */
  readonly empties: boolean;
  /** The whole value can also be read one step below, under this name. */
  readonly alsoAt: string | undefined;
}

export interface Target {
  readonly pointer: string;
  readonly id: string;
  readonly runs: 'branch' | 'each';
  /** The member that lists the target: `ifTrue`, `ifFalse`, `operations`. */
  readonly list: string;
}

/** Something an operation calls through the hub. */
export interface Callee {
  readonly pointer: string;
  readonly name: string;
  readonly list: CalleeList;
}

export interface NamedCredential {
  readonly pointer: string;
  readonly id: string;
  /** `undefined`: not in a valid place of a request. */
  readonly place: CredentialPlace | undefined;
}

export function usesOf(description: OperationDescription, config: JsonObject): Uses {
  const reads: Read[] = [];
  const writes: Write[] = [];
  const targets: Target[] = [];
  const callees: Callee[] = [];
  const credentials: NamedCredential[] = [];
  const urls: { pointer: string; text: string }[] = [];
  const texts: TemplateText[] = [];
  const durations: { pointer: string; ms: number; bound: 'exact' | 'most' }[] = [];
  let itemPath: Path | undefined;
  const read = (pointer: string, text: string, needs?: readonly Shape[], presentIn?: string) => {
    const parsed = parsePath(text);
    if (parsed.ok) reads.push({ pointer, path: parsed.path, needs, presentIn });
  };
  for (const member of description.members) {
    for (const { pointer, value, list } of membersAt(config, member.at)) {
      if (member.is === 'value' || member.is === 'comparand' || member.is === 'json') {
        for (const part of valueParts(member, value, pointer)) {
          if (part.is === 'path') read(part.pointer, part.text, neededAt(member, config, part.pointer));
          else if (part.is === 'credential')
            credentials.push({ pointer: part.pointer, id: part.id, place: part.place });
          else {
            texts.push({ pointer: part.pointer, text: part.text, fields: false });
            readTemplate(part.text, part.pointer, read);
          }
        }
        continue;
      }
      if (member.is === 'duration' && typeof value === 'number')
        durations.push({ pointer, ms: value, bound: member.bound });
      if (typeof value !== 'string') continue;
      if (member.is === 'input')
        read(pointer, value, shapes(member.needs, config, pointer), member.presentIn?.(config));
      if (member.is === 'output' || member.is === 'item' || member.is === 'key') {
        const parsed = parsePath(member.is === 'key' ? `/store/${value}` : value);
        if (!parsed.ok) continue;
        if (member.is === 'item') itemPath = parsed.path;
        else
          writes.push({
            pointer,
            path: parsed.path,
            gives: member.is === 'output' ? shapes(member.gives, config, pointer) : undefined,
            empties: member.is === 'output' && member.empties?.(config) === true,
            alsoAt: member.is === 'output' ? member.alsoAt?.(config) : undefined,
          });
      }
      if (member.is === 'stored-key') read(pointer, `/store/${value}`, undefined);
      if (member.is === 'callee') callees.push({ pointer, name: value, list: member.list });
      if (member.is === 'target') targets.push({ pointer, id: value, runs: member.runs, list });
      if (member.is === 'url') urls.push({ pointer, text: value });
      if (member.is === 'url' || member.is === 'template') {
        texts.push({ pointer, text: value, fields: member.is === 'template' && member.fields === true });
        readTemplate(value, pointer, read);
      }
    }
  }
  return { reads, writes, targets, callees, credentials, urls, texts, durations, itemPath };
}

/** The invalid paths, templates and field names of a configuration, at most a hundred. */
export function memberIssues(description: OperationDescription, config: JsonObject): Issue[] {
  const issues: Issue[] = [];
  for (const member of description.members) {
    for (const { pointer, value } of membersAt(config, member.at)) {
      for (const issue of issuesOfMember(member, value, pointer)) issues.push(issue);
      if (issues.length >= MOST_PROBLEMS) return issues;
    }
  }
  return issues;
}

function issuesOfMember(member: Member, value: Json, pointer: string): readonly Issue[] {
  if (member.is === 'value' || member.is === 'comparand' || member.is === 'json') {
    return valueParts(member, value, pointer).flatMap((part) => {
      if (part.is === 'credential') {
        // For headers and query fields, the schema reports it.
        const isReportedElsewhere = member.is === 'value' && member.place !== 'body';
        return part.id === '' && !isReportedElsewhere ? [credentialIssue(part.pointer)] : [];
      }
      return part.is === 'path' ? pathIssues(part.text, part.pointer) : templateIssues(part.text, part.pointer);
    });
  }
  if (typeof value !== 'string') return NONE;
  if (member.is === 'input') return pathIssues(value, pointer);
  if (member.is === 'output' || member.is === 'item') return pathIssues(value, pointer, 'workflow');
  if (member.is === 'url' || member.is === 'template') {
    return templateIssues(value, pointer, member.is === 'template' && member.fields === true);
  }
  if (member.is === 'field') {
    const fault = fieldFault(value);
    return fault === undefined ? NONE : [worded(pointer, value, fault)];
  }
  if (member.is === 'key' || member.is === 'stored-key') {
    const parsed = parsePath(`/store/${value}`);
    return parsed.ok ? NONE : [worded(pointer, value, { suggestion: KEY_FIX, ...parsed.fault })];
  }
  return NONE;
}

function pathIssues(text: string, pointer: string, root?: 'workflow'): readonly Issue[] {
  if (isPlainPath(text) && (root === undefined || text.startsWith('/workflow/'))) return NONE;
  const parsed = parsePath(text);
  if (!parsed.ok) return [worded(pointer, text, parsed.fault)];
  if (root === undefined || parsed.path.root === root) return NONE;
  const fix = `did you mean /workflow/${parsed.path.keys.slice(1).join('/')}?`;
  return [worded(pointer, text, { code: 'path_root', expected: 'must start with /workflow/', suggestion: fix })];
}

function templateIssues(text: string, pointer: string, fields = false): readonly Issue[] {
  if (!fields && !hasTemplate(text)) return NONE;
  return parseTemplate(text, { fields }).faults.map((fault) => worded(pointer, text, fault));
}

function credentialIssue(pointer: string): Issue {
  return {
    pointer,
    code: 'credential_reference',
    message: `${nameOf(pointer)} must be {"credentialRef": {"id": "…"}}; the id is missing, or there are other members`,
  };
}

function readTemplate(text: string, pointer: string, read: (pointer: string, text: string) => void): void {
  if (!hasTemplate(text)) return;
  for (const [, inside = ''] of text.matchAll(/\{(\/[^{}]*)\}/g)) read(pointer, inside);
}

type ValuePart =
  | { readonly is: 'path' | 'template'; readonly pointer: string; readonly text: string }
  | ({ readonly is: 'credential' } & NamedCredential);

/**
 * The references inside a value. In a body and in `json`, `{path}` is a reference at every depth; elsewhere only at the
 * top. `{credentialRef}` is a reference at the top, and in a body one level below instead. A deeper credential is
 * returned without a place, because it would be sent literally.
 */
function valueParts(
  member: Extract<Member, { is: 'value' | 'comparand' | 'json' }>,
  value: Json,
  pointer: string,
): readonly ValuePart[] {
  if (typeof value !== 'object' || value === null) {
    return member.is !== 'comparand' && typeof value === 'string'
      ? [{ is: 'template', pointer, text: value }]
      : NO_PARTS;
  }
  const parts: ValuePart[] = [];
  const body = member.is === 'value' && member.place === 'body';
  const visit = (current: Json, at: string, depth: number): void => {
    if (typeof current === 'string') {
      if (member.is !== 'comparand') parts.push({ is: 'template', pointer: at, text: current });
      return;
    }
    if (typeof current !== 'object' || current === null) return;
    if ((member.is === 'json' || body || depth === 0) && isPathReference(current)) {
      parts.push({ is: 'path', pointer: pointerTo(at, 'path'), text: current.path });
      return;
    }
    if (isObject(current) && Object.hasOwn(current, 'credentialRef')) {
      const place = member.is === 'value' && depth === (body ? 1 : 0) ? member.place : undefined;
      parts.push({ is: 'credential', pointer: at, id: credentialId(current), place });
      return;
    }
    for (const [key, item] of Object.entries(current)) visit(item, pointerTo(at, key), depth + 1);
  };
  visit(value, pointer, 0);
  return parts;
}

/** The id of a well-formed reference, else `''`. */
function credentialId(value: JsonObject): string {
  const reference = value['credentialRef'];
  const whole = isObject(reference) && Object.keys(value).length === 1 && Object.keys(reference).length === 1;
  return whole && typeof reference['id'] === 'string' ? reference['id'] : '';
}

/** The configuration in the spec's spelling, with a warning for each corrected synonym. */
export function canonicalConfig(
  aliases: readonly Alias[],
  config: JsonObject,
): { config: JsonObject; warnings: Issue[] } {
  const warnings: Issue[] = [];
  let current = config;
  for (const { at, canonical } of aliases) {
    // All edits are applied at once, because each call copies the containers.
    const edits = new Map<string, Json>();
    for (const { pointer, value } of membersAt(current, at)) {
      const replacement = canonical(value);
      if (replacement === undefined || replacement === value) continue;
      const written = wordOf(replacement);
      const message = `${nameOf(pointer)} ${show(value)} is read as ${written}`;
      warnings.push({ pointer, code: 'coerced', message, suggestion: `write ${written}` });
      edits.set(pointer, replacement);
    }
    if (edits.size > 0) current = edited(current, edits) as JsonObject;
  }
  return { config: current, warnings };
}

/** Writes lists and objects in full, because they show the correct spelling. */
function wordOf(value: Json): string {
  return typeof value === 'object' ? JSON.stringify(value) : show(value);
}

interface Found {
  readonly pointer: string;
  readonly value: Json;
  /** The first step of `pointer`. */
  readonly list: string;
}

/** Every value `at` names; `*` stands for every item or member. */
function membersAt(config: JsonObject, at: string): readonly Found[] {
  const steps = stepsOf(at);
  const [first = ''] = steps;
  if (!Object.hasOwn(config, first)) return NO_MEMBERS;
  const value = config[first] as Json;
  if (steps.length === 1) return [{ pointer: at, value, list: first }];
  const found: Found[] = [];
  const visit = (current: Json, segments: readonly string[]): void => {
    const step = steps[segments.length];
    if (step === undefined) {
      found.push({ pointer: pointerTo('', ...segments), value: current, list: first });
    } else if (typeof current === 'object' && current !== null) {
      const keys = step === '*' ? Object.keys(current) : Object.hasOwn(current, step) ? [step] : [];
      for (const key of keys) visit((current as JsonObject)[key] as Json, [...segments, key]);
    }
  };
  visit(value, [first]);
  return found;
}

const steps = new Map<string, readonly string[]>();

function stepsOf(at: string): readonly string[] {
  let known = steps.get(at);
  if (known === undefined) {
    known = at.slice(1).split('/');
    steps.set(at, known);
  }
  return known;
}

function shapes(rule: ShapeRule | undefined, config: JsonObject, pointer: string): readonly Shape[] | undefined {
  return typeof rule === 'function' ? rule(config, pointer) : rule;
}

function neededAt(member: Member, config: JsonObject, pointer: string): readonly Shape[] | undefined {
  return member.is === 'comparand' ? shapes(member.needs, config, pointer) : undefined;
}

function worded(pointer: string, value: string, { code, expected, suggestion }: TemplateFault): Issue {
  const message = `${nameOf(pointer)} ${expected}; got ${show(value)}`;
  return { pointer, code, message, ...(suggestion !== undefined && { suggestion }) };
}

/** A pointer as messages name it: `url`, `sources[1]`, `conditions[0].field`. */
export function nameOf(pointer: string): string {
  return pointer
    .slice(1)
    .split('/')
    .map((segment, at) => (/^\d+$/.test(segment) ? `[${segment}]` : at === 0 ? segment : `.${segment}`))
    .join('');
}

/** A stored value is read at `/store/<key>`, so its key must be valid in a path. */
const KEY_FIX = 'use letters, digits, - and _, and a single / or . between two names';
const NONE: readonly Issue[] = [];
const NO_PARTS: readonly ValuePart[] = [];
const NO_MEMBERS: readonly Found[] = [];
