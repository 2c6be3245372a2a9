import type { Issue } from '../outcome.ts';
import type { CheckContext } from './check/rule.ts';
import { checkWorkflow, type Finding } from './check.ts';
import { parseWorkflow } from './document.ts';
import type { ReportedFinding, ValidationReport } from './message.ts';

/** The answer of `POST /api/v1/workflows/validate`: reads the lines, checks the workflow, tells both in one report. */
export function validateWorkflow(text: string, context: CheckContext = {}): ValidationReport {
  const level = context.level ?? 'moderate';
  const { operations } = context;
  const parsed = parseWorkflow(text, { level, lenient: level === 'lenient', ...(operations && { operations }) });
  if (!parsed.ok) return reportOf(parsed.issues.map((issue) => ({ severity: 'error', ...issue })));
  const tolerated = parsed.warnings.map((issue: Issue): Finding => ({ severity: 'warning', ...issue }));
  return reportOf([...tolerated, ...checkWorkflow(parsed.value, context)]);
}

export function reportOf(findings: readonly Finding[]): ValidationReport {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const warnings = findings.filter(({ severity }) => severity === 'warning');
  return {
    valid: errors.length === 0,
    errors: errors.map(reported),
    warnings: warnings.map(reported),
    summary: {
      errors: errors.length,
      warnings: warnings.length,
      by_code: counted(findings.map(({ code }) => code)),
      by_operation: counted(findings.flatMap(({ operationId }) => operationId ?? [])),
    },
  };
}

function reported(finding: Finding): ReportedFinding {
  return { ...finding };
}

function counted(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}
