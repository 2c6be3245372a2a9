import type { Static } from '../../static.ts';
import { comparable, conditionIssue, operatorAliases, PathCondition, presentIn } from '../condition.ts';
import { Id } from '../value.ts';
import { type OperationDescription, wrapped } from './description.ts';

export const ConditionalConfig = {
  type: 'object',
  required: ['condition', 'ifTrue'],
  properties: {
    condition: PathCondition,
    ifTrue: { type: 'array', items: Id, minItems: 1, maxItems: 100 },
    ifFalse: { type: 'array', items: Id, maxItems: 100 },
  },
  additionalProperties: false,
} as const;
export type ConditionalConfig = Static<typeof ConditionalConfig>;

export const Conditional: OperationDescription = {
  summary: 'Runs one of two lists of operations, depending on a condition.',
  category: 'control',
  schema: ConditionalConfig,
  members: [
    {
      at: '/condition/path',
      is: 'input',
      needs: ({ condition }) => comparable(condition),
      presentIn: ({ condition }) => presentIn(condition),
    },
    { at: '/condition/value', is: 'comparand', needs: ({ condition }) => comparable(condition) },
    { at: '/ifTrue/*', is: 'target', runs: 'branch' },
    { at: '/ifFalse/*', is: 'target', runs: 'branch' },
  ],
  aliases: [operatorAliases('/condition/operator'), wrapped('/ifTrue'), wrapped('/ifFalse')],
  inspect: ({ condition }) => {
    const issue = conditionIssue(condition, 'condition');
    return issue === undefined ? [] : [issue];
  },
};
