import type { ValidationReport } from '@dragoman/protocols/a2e-workflow';
import type { Finding } from './parts/editor.tsx';

/** The findings of a validation, by line of the text. */
export function findingsIn({ errors, warnings }: ValidationReport, text: string): Finding[] {
  const lines = text.split('\n');
  const at = (finding: ReportedFinding) => lineOf(finding, lines, text);
  return [
    ...errors.map((finding): Finding => ({ line: at(finding), severity: 'error', message: messageOf(finding) })),
    ...warnings.map((finding): Finding => ({ line: at(finding), severity: 'warning', message: messageOf(finding) })),
  ];
}

type ReportedFinding = ValidationReport['errors'][number];

function messageOf({ message, suggestion }: ReportedFinding): string {
  return suggestion === undefined ? message : `${message} (${suggestion})`;
}

/** The line of a finding: the one that defines its operation, or the one that its pointer or its offset names. */
function lineOf({ operationId, pointer, offset }: ReportedFinding, lines: readonly string[], text: string): number {
  if (operationId !== undefined) {
    const found = lines.findIndex((line) => definedIn(line) === operationId);
    if (found !== -1) return found + 1;
  }
  const [, number] = /^\/(\d+)(?:\/|$)/.exec(pointer ?? '') ?? [];
  if (number !== undefined) return Number(number) + 1;
  return offset === undefined ? lines.length : text.slice(0, offset).split('\n').length;
}

function definedIn(line: string): unknown {
  try {
    const { type, operationId } = JSON.parse(line);
    return type === 'operationUpdate' ? operationId : undefined;
  } catch {
    return undefined;
  }
}
