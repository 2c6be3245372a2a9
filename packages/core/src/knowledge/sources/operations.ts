import { OPERATION_NAMES, OPERATIONS, type OwnOperations } from '@dragoman/protocols/a2e-workflow';
import { allows } from '../../call/principal.ts';
import type { Source, Thing } from '../thing.ts';
import { OPERATION_USES } from './operation-uses.ts';

/** The operations of a workflow. */
export function operationSource(own: OwnOperations = {}): Source {
  const added = Object.entries(own).map(([id, { summary, category, schema }]): Thing => {
    return { type: 'operation', id, name: id, text: summary, details: { category }, schema };
  });
  return {
    type: 'operation',
    version: 1,
    things: () => [...OPERATION_NAMES.map(thingOf), ...added],
    permits: ({ permissions }, { id }) => allows(permissions.operations, id),
  };
}

function thingOf(id: (typeof OPERATION_NAMES)[number]): Thing {
  const { summary, category, schema } = OPERATIONS[id];
  const text = [summary, ...OPERATION_USES[id]].join(' ');
  return { type: 'operation', id, name: id, text, details: { category }, schema };
}
