import { OPERATION_NAMES, OPERATIONS, type OwnOperations } from '@dragoman/protocols/a2e-workflow';
import { allows } from '../../principal.ts';
import type { Source, Thing } from '../thing.ts';
import { OPERATION_USES } from './operation-uses.ts';

/** The operations of a workflow. */
export function operationSource(own: OwnOperations = {}): Source {
  const added = Object.entries(own).map(
    ([id, { summary, category }]): Thing => ({ type: 'operation', id, name: id, text: summary, details: { category } }),
  );
  return {
    type: 'operation',
    version: 1,
    things: () => [...OPERATION_NAMES.map(thingOf), ...added],
    permits: ({ permissions }, { id }) => allows(permissions.operations, id),
  };
}

function thingOf(id: (typeof OPERATION_NAMES)[number]): Thing {
  const { summary, category } = OPERATIONS[id];
  return { type: 'operation', id, name: id, text: [summary, ...OPERATION_USES[id]].join(' '), details: { category } };
}
