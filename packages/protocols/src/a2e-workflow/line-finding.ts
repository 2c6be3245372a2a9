import { isObject, type Json, parseJson } from '../json.ts';
import type { Issue } from '../outcome.ts';
import { pointerTo, segmentsOf } from '../pointer.ts';
import type { Finding } from './check.ts';
import { recordsOf } from './records.ts';
import { Id } from './value.ts';

/**
 * Converts the reader's issues to findings of the checker. An issue inside the definition of an operation gets the
 * operation's id and a pointer relative to that definition. Other issues keep their pointer into the document, which
 * starts with `at`.
 */
export function lineFindings(
  issues: readonly Issue[],
  text: string,
  { at, severity }: { readonly at: string; readonly severity: Finding['severity'] },
): readonly Finding[] {
  const records = issues.length === 0 ? [] : recordsOf(text);
  const read = new Map<string, Json | undefined>();
  const lineAt = (index: string): Json | undefined => {
    if (!read.has(index)) {
      const parsed = parseJson(records[Number(index)]?.text ?? '');
      read.set(index, parsed.ok ? parsed.value : undefined);
    }
    return read.get(index);
  };
  return issues.map((issue) => {
    const [index, ...inside] = segmentsOf(issue.pointer.slice(at.length));
    const defined = index === undefined ? undefined : definedIn(lineAt(index), inside);
    return { severity, ...issue, ...defined };
  });
}

/** The operation that the segments `inside` lead to, in either form of line. */
function definedIn(
  line: Json | undefined,
  inside: readonly string[],
): Pick<Finding, 'operationId' | 'pointer'> | undefined {
  if (!isObject(line)) return undefined;
  if (line['type'] === 'operationUpdate') return named(line['operationId'], inside);
  const [key, list, number = '', ...rest] = inside;
  const bundle = line['operationUpdate'];
  if (key !== 'operationUpdate' || list !== 'operations' || !isObject(bundle)) return undefined;
  const operation = Array.isArray(bundle['operations']) ? bundle['operations'][Number(number)] : undefined;
  return isObject(operation) ? named(operation['id'], rest) : undefined;
}

function named(id: Json | undefined, inside: readonly string[]) {
  if (typeof id !== 'string' || id.length > Id.maxLength || !ID.test(id)) return undefined;
  return { operationId: id, pointer: pointerTo('', ...inside) };
}

const ID = new RegExp(Id.pattern);
