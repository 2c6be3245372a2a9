import { type Issue, isObject, type Json, parseJson } from '@dragoman/protocols';
import { checkWorkflow, type Finding, parseWorkflow, type Workflow } from '@dragoman/protocols/a2e-workflow';
import type { MessageFile } from './message-file.ts';
import { workflowPlaces } from './workflow-places.ts';

/** The report of `check` on a file. */
export interface MessageVerdict {
  readonly valid: boolean;
  readonly issues: readonly Issue[];
  readonly warnings: readonly Issue[];
}

export function checkMessage(file: MessageFile, { now, lenient }: { now: Date; lenient: boolean }): MessageVerdict {
  return file.kind === 'message' ? checkJson(file, now, lenient) : checkWorkflowText(file.text, lenient);
}

/**
 * A message is valid if its dialect reads it. Problems of a workflow in it are only warnings, because the server that
 * runs it knows more, and decides.
 */
function checkJson({ dialect, json }: MessageFile & { kind: 'message' }, now: Date, lenient: boolean): MessageVerdict {
  const outcome = dialect.decode(json, now, { lenient });
  if (!outcome.ok) return { valid: false, issues: outcome.issues, warnings: [] };
  const workflow = workflowIn(outcome.value);
  const findings = workflow === undefined ? [] : placedFindings(workflow, linesOf(json), lenient);
  return { valid: true, issues: [], warnings: [...outcome.warnings, ...findings.map(asIssue)] };
}

/** A whole workflow is valid if it can be read and the checker finds no error. */
function checkWorkflowText(text: string, lenient: boolean): MessageVerdict {
  const parsed = parseWorkflow(text, { lenient });
  if (!parsed.ok) return { valid: false, issues: parsed.issues, warnings: [] };
  const findings = placedFindings(parsed.value, { at: '', lines: jsonLines(text) }, lenient);
  const issues = findings.filter(({ severity }) => severity === 'error').map(asIssue);
  const tolerated = findings.filter(({ severity }) => severity === 'warning').map(asIssue);
  return { valid: issues.length === 0, issues, warnings: [...parsed.warnings, ...tolerated] };
}

interface Lines {
  /** The JSON pointer of the array of lines in the file. */
  readonly at: string;
  readonly lines: readonly (Json | undefined)[];
}

/**
 * The findings of the checker with their places in the file. The checker itself points into the line of an operation.
 */
function placedFindings(workflow: Workflow, { at, lines }: Lines, lenient: boolean): readonly Finding[] {
  const places = workflowPlaces(lines, at);
  return checkWorkflow(workflow, { level: lenient ? 'lenient' : 'moderate' }).map((finding) => ({
    ...finding,
    pointer: places.pointerOf(finding),
  }));
}

function asIssue({ pointer, code, message, suggestion }: Finding): Issue {
  return { pointer, code, message, ...(suggestion !== undefined && { suggestion }) };
}

function workflowIn(message: unknown): Workflow | undefined {
  const { kind, workflow } = Object(message) as { kind?: unknown; workflow?: Workflow };
  return kind === 'workflow' ? workflow : undefined;
}

function linesOf(json: Json): Lines {
  if (Array.isArray(json)) return { at: '', lines: json };
  const text = isObject(json) ? json['workflow'] : undefined;
  return typeof text === 'string' ? { at: '/workflow', lines: jsonLines(text) } : { at: '', lines: [] };
}

/** The parsed lines. An invalid or blank line is `undefined`, so that the others keep their numbers. */
function jsonLines(text: string): (Json | undefined)[] {
  return text.split('\n').map((line) => {
    const parsed = parseJson(line.trim());
    return parsed.ok ? parsed.value : undefined;
  });
}
