import type { Json } from '@dragoman/protocols';
import { type FilterDataConfig, isPathReference, OPERATIONS, type Path } from '@dragoman/protocols/a2e-workflow';
import { compileTest, type Test } from '../condition.ts';
import { type FieldReader, fieldReader } from '../field.ts';
import { arrayAt } from '../input.ts';
import type { Compiling, Operation, StepContext } from '../operation.ts';

/** Keeps the items of an array that meet every condition (A2E, FilterData). */
export const filterData: Operation<FilterDataConfig> = {
  description: OPERATIONS.FilterData,
  cacheFor: 60,
  compile(config, compiling) {
    const input = compiling.path(config.inputPath);
    const conditions = config.conditions.map((condition, at) => compileCondition(condition, at, compiling));
    return (step) => {
      const items = arrayAt(step, input);
      step.boundedBy(step.bytesAt(input));
      const tests = conditions.map(({ read, test }) => ({ read, test: test(step) }));
      return items.filter((item) => isRecord(item) && tests.every(({ read, test }) => test(read(item))));
    };
  },
};

interface Condition {
  readonly read: FieldReader;
  /** The right side may be a path, whose value is known when the step runs. */
  readonly test: (step: StepContext) => Test;
}

function compileCondition(
  { field, operator, value = null }: FilterDataConfig['conditions'][number],
  at: number,
  compiling: Compiling,
): Condition {
  return { read: fieldReader(field), test: testOf(operator, value as Json, `/conditions/${at}`, compiling) };
}

/** The test of a condition of FilterData or Conditional. */
export function testOf(
  operator: string,
  value: Json,
  pointer: string,
  compiling: Compiling,
): (step: StepContext) => Test {
  if (compileTest(operator, null) === undefined) {
    compiling.problem(`${pointer}/operator`, `operator ${JSON.stringify(operator)} is none that is known`);
    return () => () => false;
  }
  const made = (right: Json): Test => compileTest(operator, right) ?? (() => false);
  if (isPathReference(value)) {
    const path: Path = compiling.path(value.path);
    return (step) => made(step.read(path));
  }
  const fixed = made(value);
  return () => fixed;
}

/** An item without fields meets no condition on one. */
function isRecord(item: Json): boolean {
  return typeof item === 'object' && item !== null;
}
