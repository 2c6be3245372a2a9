import type { Json, JsonObject } from '../json.ts';
import type { Member, OperationDescription } from './operations/description.ts';
import { isPlainPath } from './path.ts';
import { isPlainTemplate } from './template.ts';

/**
 * The fast path of the reader: true if every template and reference of a valid configuration has the
 * plain spelling, which needs no parsing. If false, the slow path decides.
 */
export function isPlainConfig(description: OperationDescription, config: JsonObject): boolean {
  for (const isPlain of checksOf(description)) if (!isPlain(config)) return false;
  return description.inspect === undefined || description.inspect(config).length === 0;
}

/** Whether the value at one place of a configuration is plain. */
type Check = (value: Json) => boolean;

/** The check of the member at the end of `steps`, created once for each operation. */
function checkAt(member: Member, steps: readonly string[]): Check {
  const [step, ...rest] = steps;
  if (step === undefined) return (value) => isPlainMember(member, value);
  const next = checkAt(member, rest);
  if (step === '*') return (value) => isPlainInEach(value, next);
  return (value) => {
    if (typeof value !== 'object' || value === null) return true;
    // Schemas are closed, so every key is an own one.
    const found = (value as JsonObject)[step];
    return found === undefined || next(found);
  };
}

function isPlainInEach(value: Json, isPlain: Check): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  for (const key in value) if (!isPlain(value[key] as Json)) return false;
  return true;
}

function isPlainMember(member: Member, value: Json): boolean {
  if (member.is === 'value') return isPlainValue(value, member.place === 'body' ? -1 : 0, member.place === 'body');
  if (member.is === 'json') return isPlainValue(value, Number.NEGATIVE_INFINITY, true);
  if (member.is === 'comparand') return typeof value !== 'object' || value === null || isPlainComparand(value);
  if (typeof value !== 'string') return true;
  if (member.is === 'template' && member.fields === true) return !value.includes('{');
  if (member.is === 'url' || member.is === 'template') return isPlainTemplate(value);
  return isPlainPath(`/store/${value}`);
}

/**
 * A credential is allowed at `depth` 0: as the value of a header, or as a member of the body. With `deep`, `{path}` is
 * a reference at every depth.
 */
function isPlainValue(value: Json, depth: number, deep: boolean): boolean {
  if (typeof value === 'string') return isPlainTemplate(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlainValue(item, depth + 1, deep)) return false;
    return true;
  }
  for (const key in value) {
    const item = value[key] as Json;
    if (key === 'credentialRef') {
      if (depth !== 0 || !isPlainCredential(value)) return false;
    } else if (key === 'path' && (deep || depth <= 0) && typeof item === 'string' && !isPlainPath(item)) return false;
    else if (!isPlainValue(item, depth + 1, deep)) return false;
  }
  return true;
}

function isPlainCredential(value: JsonObject): boolean {
  const reference = value['credentialRef'] as JsonObject | null;
  if (typeof reference !== 'object' || reference === null || typeof reference['id'] !== 'string') return false;
  for (const key in value) if (key !== 'credentialRef') return false;
  for (const key in reference) if (key !== 'id') return false;
  return true;
}

/** Whether a comparand is a list of plain values, such as `in` takes. Objects are left to the slow path. */
function isPlainComparand(value: Json[] | JsonObject): boolean {
  return Array.isArray(value) && value.every((item) => typeof item !== 'object');
}

/** Members that the schema's patterns have already checked. */
const BY_SCHEMA: ReadonlySet<Member['is']> = new Set([
  'input',
  'output',
  'item',
  'field',
  'target',
  'callee',
  'duration',
]);
const checks = new Map<OperationDescription, readonly Check[]>();

function checksOf(description: OperationDescription): readonly Check[] {
  let known = checks.get(description);
  if (known === undefined) {
    known = description.members
      .filter(({ is }) => !BY_SCHEMA.has(is))
      .map((member) => checkAt(member, member.at.slice(1).split('/')));
    checks.set(description, known);
  }
  return known;
}
