import { OPERATION_NAMES, OPERATIONS } from '@dragoman/protocols/a2e-workflow';
import { allows } from '../../principal.ts';
import type { Source, Thing } from '../thing.ts';
import { OPERATION_USES } from './operation-uses.ts';

/** The operations of a workflow. */
export function operationSource(): Source {
  return {
    type: 'operation',
    version: 1,
    things: () => OPERATION_NAMES.map(thingOf),
    permits: ({ permissions }, { id }) => allows(permissions.operations, id),
  };
}

function thingOf(id: (typeof OPERATION_NAMES)[number]): Thing {
  const { summary, category } = OPERATIONS[id];
  return { type: 'operation', id, name: id, text: [summary, ...OPERATION_USES[id]].join(' '), details: { category } };
}
