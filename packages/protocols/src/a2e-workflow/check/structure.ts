import { show } from '../../validation.ts';
import { valueIssues } from '../line.ts';
import { nameOf } from '../member.ts';
import { undefinedOperation, unknownOperation } from '../unknown-name.ts';
import { findCycles } from './cycle.ts';
import { about, type Draft, type Rule } from './rule.ts';

/** Operations exist in the catalogue. */
export const knownTypes: Rule = ({ operations, context }) =>
  [...operations.values()]
    .filter(({ description }) => description === undefined)
    .map((operation) => about(operation, '', unknownOperation(operation.type, context.operations)));

/**
 * Values of closed sets are in those sets. A lenient reader accepts others, but their meaning is unknown, and
 * doing something else instead would be reported as a success.
 */
export const knownValues: Rule = ({ operations }) =>
  [...operations.values()].flatMap((operation) => {
    const { type, config, description } = operation;
    return (description === undefined ? [] : valueIssues(type, description, config)).map(({ pointer, ...issue }) =>
      about(operation, pointer, { ...issue, code: 'unknown_value' }),
    );
  });

/** Everything that the order, a branch or a loop names is defined. */
export const definedReferences: Rule = ({ workflow, operations }) => {
  const drafts: Draft[] = [];
  for (const operation of operations.values()) {
    for (const { id, pointer } of operation.uses.targets) {
      if (operations.has(id)) continue;
      drafts.push(about(operation, pointer, undefinedOperation(id, nameOf(pointer), operations.keys())));
    }
  }
  for (const [index, id] of workflow.order.entries()) {
    if (operations.has(id)) continue;
    const pointer = `/operationOrder/${index}`;
    drafts.push({ pointer, ...undefinedOperation(id, `operationOrder[${index}]`, operations.keys()) });
  }
  return drafts;
};

/** The order lists each operation once, and leaves branch and loop targets to their Conditional or Loop. */
export const cleanOrder: Rule = ({ workflow, operations }) => {
  const drafts: Draft[] = [];
  const first = new Map<string, number>();
  for (const [index, id] of workflow.order.entries()) {
    const before = first.get(id);
    if (before === undefined) first.set(id, index);
    else {
      drafts.push({
        pointer: `/operationOrder/${index}`,
        code: 'listed_twice',
        message: `operationOrder[${index}] lists ${show(id)} again, after operationOrder[${before}]; it would run twice`,
        suggestion: 'list it once, or define a second operation',
      });
    }
  }
  for (const operation of operations.values()) {
    for (const target of operation.uses.targets) {
      const index = first.get(target.id);
      if (index === undefined || target.id === operation.id) continue;
      drafts.push({
        pointer: `/operationOrder/${index}`,
        code: 'target_listed',
        message: `operationOrder[${index}] lists ${show(target.id)}, which belongs to ${show(operation.id)} (${target.list}) and must not be listed`,
        suggestion: `remove ${show(target.id)} from operationOrder`,
      });
    }
  }
  return drafts;
};

/** Everything defined is reached by the order. */
export const allReached: Rule = ({ operations, reached }) =>
  [...operations.values()]
    .filter(({ id }) => !reached.has(id))
    .map(({ id }) => ({
      pointer: '/operationId',
      operationId: id,
      code: 'unreachable_operation',
      message: `${show(id)} never runs: neither operationOrder nor a Conditional or Loop that runs names it`,
      suggestion: `add ${show(id)} to operationOrder, or remove it`,
    }));

/** No Conditional or Loop leads back to itself. */
export const acyclic: Rule = ({ operations }) => {
  const edges = new Map([...operations].map(([id, { uses }]) => [id, uses.targets.map((target) => target.id)]));
  return findCycles(edges).map((cycle) => {
    const [first = '', second = first] = cycle;
    const operation = operations.get(first);
    const target = operation?.uses.targets.find(({ id }) => id === second);
    const draft = {
      code: 'cycle' as const,
      message:
        cycle.length === 1
          ? `${first} runs itself and would never end`
          : `${[...cycle, first].join(' → ')} leads back to itself and would never end`,
      suggestion: `remove ${show(second)} from ${target?.list ?? first}`,
    };
    return operation === undefined || target === undefined
      ? { ...draft, pointer: '' }
      : about(operation, target.pointer, draft);
  });
};
