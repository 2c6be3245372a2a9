import { QUESTION_OPTION_KINDS, QuestionForm, QuestionOption } from '../../e2a/question.ts';
import type { JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import type { Static } from '../../static.ts';
import { OutputPathText } from '../value.ts';
import type { OperationDescription } from './description.ts';

export const AskApprovalConfig = {
  type: 'object',
  required: ['title', 'outputPath'],
  properties: {
    // The question in one sentence; {/path} is filled in.
    title: { type: 'string', minLength: 1, maxLength: 1000 },
    // Further information for the decision; {/path} is filled in.
    description: { type: 'string', maxLength: 16_384 },
    // The options. Default: allow and reject.
    options: {
      type: 'array',
      minItems: 1,
      maxItems: 32,
      items: {
        type: 'object',
        required: ['id', 'name'],
        properties: { ...QuestionOption.properties, kind: { enum: QUESTION_OPTION_KINDS } },
        additionalProperties: false,
      },
    },
    // A form to fill in, instead of options.
    schema: QuestionForm,
    outputPath: OutputPathText,
    // Milliseconds, or a number followed by s, m, h or d. Default: 1d. At most 30 days.
    expires: {
      anyOf: [
        { type: 'integer', minimum: 1000, maximum: 2_592_000_000 },
        { type: 'string', pattern: '^[1-9]\\d{0,6}[smhd]$' },
      ],
    },
  },
  additionalProperties: false,
} as const;
export type AskApprovalConfig = Static<typeof AskApprovalConfig>;

export const AskApproval: OperationDescription = {
  summary: 'Asks a person and waits for the answer, for up to 30 days; a rejection is an error.',
  category: 'control',
  schema: AskApprovalConfig,
  members: [
    { at: '/title', is: 'template' },
    { at: '/description', is: 'template' },
    { at: '/outputPath', is: 'output', gives: ['object'] },
  ],
  inspect: (config) => [...eitherOptionsOrSchema(config), ...notTooLong(config)],
};

/** A value of `expires` in milliseconds. */
export function expiryMs(expires: number | string): number {
  if (typeof expires === 'number') return expires;
  return Number(expires.slice(0, -1)) * (UNITS[expires.slice(-1)] ?? 0);
}

function eitherOptionsOrSchema({ options, schema }: JsonObject): readonly Issue[] {
  if (options === undefined || schema === undefined) return [];
  const message = 'AskApproval must have either options or schema, not both';
  return [{ pointer: '/schema', code: 'options_or_schema', message, suggestion: 'remove schema, or remove options' }];
}

function notTooLong({ expires }: JsonObject): readonly Issue[] {
  if (typeof expires !== 'string' || expiryMs(expires) <= MOST_MS) return [];
  const message = `expires must be at most 30d; got ${JSON.stringify(expires)}`;
  return [{ pointer: '/expires', code: 'maximum', message, suggestion: 'write 30d' }];
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MOST_MS = 30 * 86_400_000;
