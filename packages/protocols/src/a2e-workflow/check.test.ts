import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import type { CheckContext } from './check/rule.ts';
import { FINDINGS, severityOf } from './check/severity.ts';
import { checkWorkflow, type Finding } from './check.ts';
import { readWorkflow, type Workflow } from './document.ts';
import { LEVELS } from './message.ts';

interface CheckCase {
  readonly name: string;
  readonly spec: string;
  readonly why: string;
  readonly input: readonly Json[];
  readonly context?: CheckContext;
  readonly expect: { readonly findings: readonly Finding[] };
}

const folder = new URL('../../../../conformance/a2e-workflow/check/', import.meta.url);
const cases = readdirSync(folder).map((file): CheckCase => {
  const fixture = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Omit<CheckCase, 'name'>;
  return { name: file.replace('.json', ''), ...fixture };
});

describe('findings of the checker', () => {
  test.each(cases)('$name', ({ spec, why, input, context, expect: { findings } }) => {
    expect(spec).toMatch(/\S/);
    expect(why).toMatch(/\S{2,} \S/);
    expect(checkWorkflow(workflowOf(input), context)).toEqual(findings);
  });

  test('every code has a case', () => {
    const found = new Set(cases.flatMap((fixture) => fixture.expect.findings.map(({ code }) => code)));
    // A workflow that was read defines everything it names.
    found.add('undefined_operation');
    expect(Object.keys(FINDINGS).filter((code) => !found.has(code))).toEqual([]);
  });

  test('a workflow built by hand with dangling names is refused with the nearest name', () => {
    const workflow = workflowOf([
      { type: 'operationUpdate', operationId: 'fetch', operation: { Wait: { duration: 1 } } },
    ]);
    expect(checkWorkflow({ ...workflow, order: ['fetch', 'fetsh'] })).toEqual([
      {
        severity: 'error',
        pointer: '/operationOrder/1',
        code: 'undefined_operation',
        message: 'operationOrder[1] names "fetsh", which no operationUpdate defines',
        suggestion: 'did you mean fetch?',
      },
    ]);
  });

  test('and so is one whose loop names what is not there', () => {
    const workflow = workflowOf([
      { type: 'operationUpdate', operationId: 'fetch', operation: { Wait: { duration: 1 } } },
    ]);
    const config = { inputPath: '/store/users', operations: ['fetsh'] };
    const operations = new Map([...workflow.operations, ['each', { id: 'each', type: 'Loop', config }]]);
    expect(checkWorkflow({ ...workflow, operations, order: ['fetch', 'each'] })).toContainEqual({
      severity: 'error',
      operationId: 'each',
      pointer: '/operation/Loop/operations/0',
      code: 'undefined_operation',
      message: 'operations[0] names "fetsh", which no operationUpdate defines',
      suggestion: 'did you mean fetch?',
    });
  });
});

describe('levels', () => {
  test('a stricter level never forgives what a milder one refuses', () => {
    for (const code of Object.keys(FINDINGS) as (keyof typeof FINDINGS)[]) {
      const [strict, moderate, lenient] = LEVELS.map((level) => severityOf(code, level));
      if (lenient === 'error') expect(moderate, code).toBe('error');
      if (moderate === 'error') expect(strict, code).toBe('error');
    }
  });

  test('every level finds the same things', () => {
    for (const { input, context } of cases) {
      const [strict, moderate, lenient] = LEVELS.map((level) =>
        checkWorkflow(workflowOf(input), { ...context, level }).map(({ severity: _, ...finding }) => finding),
      );
      expect(moderate).toEqual(strict);
      expect(lenient).toEqual(strict);
    }
  });
});

describe('any workflow', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const path = fc.constantFrom(
    '/workflow/a',
    '/workflow/b',
    '/workflow/b/c',
    '/workflow/b[0].c',
    '/store/k',
    '/loop/item',
  );
  const output = fc.constantFrom('/workflow/a', '/workflow/b', '/workflow/b/c', '/workflow/d');
  const ids = fc.array(id, { minLength: 1, maxLength: 3 });
  const operation = fc.oneof(
    fc.record({
      FilterData: fc.record({
        inputPath: path,
        conditions: fc.constant<Json[]>([{ field: 'x', operator: 'exists' }]),
        outputPath: output,
      }),
    }),
    fc.record({
      Conditional: fc.record({
        condition: fc.record({ path, operator: fc.constant('exists') }),
        ifTrue: ids,
        ifFalse: ids,
      }),
    }),
    fc.record({ Loop: fc.record({ inputPath: path, operations: ids, outputPath: output }) }),
    fc.record({ StoreData: fc.record({ inputPath: path, storage: fc.constant('file'), key: fc.constant('k') }) }),
    fc.record({ ApiCall: fc.record({ method: fc.constant('GET'), url: fc.webUrl(), outputPath: output }) }),
  );
  const lines = fc
    .record({ operations: fc.tuple(operation, operation, operation, operation, operation), order: ids })
    .map(({ operations, order }): Json[] => [
      ...operations.map(
        (one, at): Json => ({ type: 'operationUpdate', operationId: 'abcde'[at] ?? 'a', operation: one }),
      ),
      { type: 'beginExecution', executionId: 'e', operationOrder: order },
    ]);

  test('is checked without an exception, at every level, and each finding is whole', () => {
    fc.assert(
      fc.property(lines, fc.constantFrom(...LEVELS), (input, level) => {
        for (const finding of checkWorkflow(workflowOf(input), {
          level,
          permissions: { apis: [], operations: ['Loop'] },
        })) {
          expect(finding.message).not.toMatch(/undefined|\[object|NaN/);
          expect(finding.severity).toMatch(/^(error|warning)$/);
          expect(Object.hasOwn(FINDINGS, finding.code)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('a deep chain and a wide fan are followed only as far as the limits go', () => {
    const control = (operationId: string, targets: string[]): Json => ({
      type: 'operationUpdate',
      operationId,
      operation: { Conditional: { condition: { path: '/workflow/x', operator: 'exists' }, ifTrue: targets } },
    });
    const chain = Array.from({ length: 3000 }, (_, at) => control(`c${at}`, [`c${at + 1}`]));
    const end: Json = { type: 'operationUpdate', operationId: 'c3000', operation: { Wait: { duration: 1 } } };
    const begin: Json = { type: 'beginExecution', executionId: 'e', operationOrder: ['c0'] };
    expect(codes(checkWorkflow(workflowOf([...chain, end, begin])))).toEqual(['too_deep', 'too_many_operations']);

    const wide = ['c1', 'c2', 'c3', 'c4'].map((name, at) =>
      control(name, Array(100).fill(at === 3 ? 'end' : `c${at + 2}`)),
    );
    const last: Json = { type: 'operationUpdate', operationId: 'end', operation: { Wait: { duration: 1 } } };
    const fan: Json = { type: 'beginExecution', executionId: 'e', operationOrder: ['c1'] };
    expect(codes(checkWorkflow(workflowOf([...wide, last, fan])))).toEqual(['too_many_steps']);
  });
});

function codes(findings: readonly Finding[]): string[] {
  return findings.map(({ code }) => code);
}

function workflowOf(lines: readonly Json[]): Workflow {
  const outcome = readWorkflow(lines, { lenient: true });
  if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
  return outcome.value;
}

describe('a workflow with more findings than anybody reads', () => {
  const now = (id: string, name: string) => ({
    type: 'operationUpdate',
    operationId: id,
    operation: { GetCurrentDateTime: { outputPath: `/workflow/${name}` } },
  });
  const call = (paths: string[]) => ({
    type: 'operationUpdate',
    operationId: 'call',
    operation: {
      ApiCall: { method: 'POST', url: 'https://api.example/', body: paths, outputPath: '/workflow/answer' },
    },
  });
  const begin = { type: 'beginExecution', executionId: 'e', operationOrder: ['call'] };
  const idle = Array.from({ length: 5000 }, (_, index) => now(`n${index}`, `n${index}`));

  test('has a hundred errors and a hundred warnings listed', () => {
    const paths = Array.from({ length: 20_000 }, (_, index) => `{/workflow/m${index}}`);
    const findings = checkWorkflow(workflowOf([...idle, call(paths), begin]));
    expect(findings.filter(({ severity }) => severity === 'error')).toHaveLength(101);
    expect(findings.filter(({ severity }) => severity === 'warning')).toHaveLength(101);
    expect(findings.filter(({ code }) => code === 'more_problems')).toHaveLength(2);
  });

  test('is still refused for the one error behind a thousand doubts', () => {
    const paths = Array.from({ length: 20_000 }, (_, index) => `{/store/m${index}}`);
    const findings = checkWorkflow(workflowOf([...idle, call([...paths, '{/workflow/nowhere}']), begin]), {
      limits: { operations: 10_000 },
    });
    expect(findings.filter(({ severity }) => severity === 'error')).toMatchObject([{ code: 'path_not_produced' }]);
  });
});
