import type { CheckContext } from './check/rule.ts';
import { checkWorkflow, type Finding } from './check.ts';
import { parseWorkflow } from './document.ts';
import { lineFindings } from './line-finding.ts';
import type { ReportedFinding, ValidationReport } from './message.ts';

/** The answer of `POST /api/v1/workflows/validate`: reads the lines, checks the workflow and reports both. */
export function validateWorkflow(text: string, context: CheckContext = {}): ValidationReport {
  const level = context.level ?? 'moderate';
  const { operations } = context;
  const parsed = parseWorkflow(text, { level, lenient: level === 'lenient', ...(operations && { operations }) });
  if (!parsed.ok) return reportOf(lineFindings(parsed.issues, text, { at: '', severity: 'error' }));
  const tolerated = lineFindings(parsed.warnings, text, { at: '', severity: 'warning' });
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
