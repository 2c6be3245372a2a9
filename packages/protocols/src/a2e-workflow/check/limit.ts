import { nameOf } from '../member.ts';
import { about, type Draft, type Examined, type Rule } from './rule.ts';

/** The workflow is within the limits of an execution. */
export const size: Rule = ({ operations, reached, limits }) => {
  const drafts: Draft[] = [];
  if (operations.size > limits.operations) {
    const message = `the workflow defines ${operations.size} operations; at most ${limits.operations} are allowed`;
    drafts.push({ pointer: '', code: 'too_many_operations', message, suggestion: 'split it into several workflows' });
  }
  const calls = [...operations.values()].filter((operation) => callsApi(operation) && reached.has(operation.id));
  if (calls.length > limits.apiCalls) {
    const message = `the workflow has ${calls.length} API calls; an execution may make ${limits.apiCalls}`;
    drafts.push({ pointer: '', code: 'too_many_api_calls', message });
  }
  return drafts;
};

/** Warns about loops that multiply work: their size is known only at run time. */
export const loopCost: Rule = ({ operations, limits }) => {
  const drafts: Draft[] = [];
  for (const loop of operations.values()) {
    const inner = insideLoop(loop, operations);
    for (const { operation, pointer } of inner) {
      if (isLoop(operation)) {
        const message = `${nameOf(pointer)} runs the loop ${operation.id} for each item, which may exceed the limit of ${limits.steps} steps`;
        drafts.push(about(loop, pointer, { code: 'nested_loop', message }));
      } else if (callsApi(operation)) {
        const message = `${nameOf(pointer)} makes an API call for each item; an execution may make ${limits.apiCalls}`;
        const suggestion = 'filter the array before the loop';
        drafts.push(about(loop, pointer, { code: 'api_call_in_loop', message, suggestion }));
      }
    }
  }
  return drafts;
};

/** No operation takes longer than the whole execution may. */
export const withinDeadline: Rule = ({ operations, limits: { executionTime } }) =>
  [...operations.values()].flatMap((operation) =>
    operation.uses.durations
      .filter(({ ms }) => ms > executionTime)
      .map(({ pointer, ms, bound }) =>
        bound === 'exact'
          ? about(operation, pointer, {
              code: 'wait_exceeds_deadline',
              message: `${nameOf(pointer)} is ${ms} ms; an execution ends after ${executionTime} ms`,
              suggestion: `wait less than ${executionTime} ms, set a larger timeout_ms, or start another execution later`,
            })
          : about(operation, pointer, {
              code: 'timeout_exceeds_deadline',
              message: `${nameOf(pointer)} is ${ms} ms; it is shortened to the rest of the ${executionTime} ms`,
            }),
      ),
  );

/** The operations that a loop runs, including through a Conditional, each with the loop's member that names it. */
function insideLoop(
  loop: Examined,
  operations: ReadonlyMap<string, Examined>,
): readonly { operation: Examined; pointer: string }[] {
  const found: { operation: Examined; pointer: string }[] = [];
  if (!isLoop(loop)) return found;
  const seen = new Set([loop.id]);
  const waiting = loop.uses.targets.map(({ id, pointer }) => ({ id, pointer }));
  for (const { id, pointer } of waiting) {
    const operation = operations.get(id);
    if (operation === undefined || seen.has(id)) continue;
    seen.add(id);
    found.push({ operation, pointer });
    // An inner loop reports its own operations.
    if (!isLoop(operation)) for (const target of operation.uses.targets) waiting.push({ id: target.id, pointer });
  }
  return found;
}

function isLoop({ uses }: Examined): boolean {
  return uses.targets.some(({ runs }) => runs === 'each');
}

function callsApi({ description }: Examined): boolean {
  return description?.category === 'api';
}
