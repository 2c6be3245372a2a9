import type { JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import type { Static } from '../../static.ts';
import { comparable, conditionIssue, FieldCondition, operatorAliases } from '../condition.ts';
import { OutputPathText, PathText } from '../value.ts';
import type { OperationDescription, Shape } from './description.ts';

export const FilterDataConfig = {
  type: 'object',
  required: ['inputPath', 'conditions', 'outputPath'],
  properties: {
    inputPath: PathText,
    conditions: { type: 'array', items: FieldCondition, minItems: 1, maxItems: 100 },
    outputPath: OutputPathText,
  },
  additionalProperties: false,
} as const;
export type FilterDataConfig = Static<typeof FilterDataConfig>;

export const FilterData: OperationDescription = {
  summary: 'Keeps the items of an array that meet every condition.',
  category: 'data',
  schema: FilterDataConfig,
  members: [
    { at: '/inputPath', is: 'input', needs: ['array'] },
    { at: '/conditions/*/field', is: 'field' },
    { at: '/conditions/*/value', is: 'comparand', needs: comparedAt },
    { at: '/outputPath', is: 'output', gives: ['array'], empties: () => true },
  ],
  aliases: [operatorAliases('/conditions/*/operator')],
  inspect: ({ conditions }) => {
    const issues: Issue[] = [];
    if (!Array.isArray(conditions)) return issues;
    for (let index = 0; index < conditions.length; index++) {
      const issue = conditionIssue(conditions[index], 'conditions', index);
      if (issue !== undefined) issues.push(issue);
    }
    return issues;
  },
};

/** The shapes needed at a pointer: `/conditions/2/value/path` belongs to the third condition. */
function comparedAt({ conditions }: JsonObject, pointer: string): readonly Shape[] | undefined {
  return Array.isArray(conditions) ? comparable(conditions[Number(pointer.split('/')[2])]) : undefined;
}
