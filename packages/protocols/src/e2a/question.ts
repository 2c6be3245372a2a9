import { Opaque, OpaqueObject } from '../schema.ts';
import type { Static } from '../static.ts';

/**
 * `permission`: consent to an action. `choice`: one of several options. `form`: a form to fill in. `url`: a page to
 * visit. `auth`: a sign-in. `plan`: consent to a plan.
 */
export const QUESTION_KINDS = ['permission', 'choice', 'form', 'url', 'auth', 'plan'] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

export const QUESTION_OPTION_KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always', 'choice'] as const;

export const ANSWER_ACTIONS = ['selected', 'accept', 'decline', 'cancel'] as const;

const text = { type: 'string' } as const;
const id = { type: 'string', minLength: 1, maxLength: 256 } as const;

export const QuestionOption = {
  type: 'object',
  required: ['id', 'name', 'kind'],
  properties: {
    id,
    name: { type: 'string', minLength: 1, maxLength: 500, description: 'What a person reads.' },
    kind: { enum: QUESTION_OPTION_KINDS, description: 'The effect of choosing it.' },
  },
  additionalProperties: false,
} as const;
export type QuestionOption = Static<typeof QuestionOption>;

export const QuestionSubject = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { enum: ['tool_call', 'command', 'plan'], description: 'What the question is about.' },
    tool_call_id: { ...id, description: 'tool_call: its id, as the tool chunks of the answer have it.' },
    name: { ...text, description: 'tool_call: the name of the tool.' },
    tool_kind: { ...text, description: "tool_call: ACP's kind of tool, such as edit or execute." },
    input: { ...Opaque, description: 'tool_call: its arguments.' },
    command: { ...text, description: 'command: the command line.' },
    cwd: { ...text, description: 'command: the folder it runs in.' },
    text: { ...text, description: 'plan: the plan.' },
  },
} as const;
export type QuestionSubject = Static<typeof QuestionSubject>;

/** The form to fill in: a flat object, whose fields are texts, numbers, booleans, and choices of one or of several. */
export const QuestionForm = {
  type: 'object',
  required: ['type', 'properties'],
  properties: {
    type: { const: 'object', description: 'Always object.' },
    properties: {
      type: 'object',
      maxProperties: 64,
      description: 'The fields by name.',
      additionalProperties: {
        type: 'object',
        required: ['type'],
        properties: {
          type: {
            enum: ['string', 'number', 'integer', 'boolean', 'array'],
            description: 'The type; array: several choices.',
          },
        },
        description: 'A field, as JSON Schema.',
      },
    },
    required: { type: 'array', items: text, maxItems: 64 },
  },
} as const;
export type QuestionForm = Static<typeof QuestionForm>;

const shared = {
  kind: { enum: QUESTION_KINDS, description: 'What is asked for.' },
  title: { type: 'string', minLength: 1, maxLength: 1000, description: 'The question, in one sentence.' },
  description: { type: 'string', maxLength: 16_384, description: 'What else a person needs in order to decide.' },
  subject: { ...QuestionSubject, description: 'What the question is about.' },
  options: {
    type: 'array',
    items: QuestionOption,
    minItems: 1,
    maxItems: 32,
    description: 'permission, choice, plan.',
  },
  schema: { ...QuestionForm, description: 'form: what to fill in.' },
  url: { type: 'string', minLength: 1, maxLength: 2048, description: 'url, auth: the page to visit.' },
} as const;

/** A question as an agent asks it. */
export const NewQuestion = {
  type: 'object',
  required: ['kind', 'title'],
  properties: {
    ...shared,
    expires_in_ms: {
      type: 'integer',
      minimum: 1,
      maximum: 2_592_000_000,
      description: 'Default: 600000, ten minutes.',
    },
  },
  additionalProperties: false,
} as const;
export type NewQuestion = Static<typeof NewQuestion>;

/** A question to a person, in the middle of a running request. */
export const Question = {
  type: 'object',
  required: ['question_id', 'kind', 'title', 'asked_at', 'expires_at'],
  properties: {
    question_id: { ...id, description: 'A unique id.' },
    ...shared,
    asked_at: { ...text, description: 'When it was asked.' },
    expires_at: { ...text, description: 'When it is answered by its rejecting option, or declined.' },
  },
} as const;
export type Question = Static<typeof Question>;

/** An answer as received. */
export const GivenAnswer = {
  type: 'object',
  properties: {
    action: { enum: ANSWER_ACTIONS, description: 'Default: selected with option_id, accept with content.' },
    option_id: { ...id, description: 'The id of the chosen option.' },
    content: { ...OpaqueObject, description: 'The filled form.' },
    text: {
      ...text,
      maxLength: 65_536,
      description:
        'Instead of the other fields: the id, name or number of an option, a JSON object, accept or decline.',
    },
  },
  additionalProperties: false,
} as const;
export type GivenAnswer = Static<typeof GivenAnswer>;

/** The answer that decided a question. */
export const QuestionAnswer = {
  type: 'object',
  required: ['action', 'by', 'channel', 'at'],
  properties: {
    action: { enum: ANSWER_ACTIONS, description: 'How it was answered.' },
    option_id: { ...id, description: 'The id of the chosen option.' },
    content: { ...OpaqueObject, description: 'The filled form.' },
    by: { type: ['string', 'null'], description: 'The caller that answered; null where the server did.' },
    channel: {
      ...text,
      description: 'How the answer arrived, such as e2a or a2a-mailbox, or expiry.',
    },
    at: { ...text, description: 'When it was answered.' },
  },
} as const;
export type QuestionAnswer = Static<typeof QuestionAnswer>;

/** How a question ended. `withdrawn`: its request ended first. */
export const QUESTION_ENDS = ['answered', 'expired', 'withdrawn'] as const;

export interface QuestionEnd {
  readonly question_id: string;
  readonly state: (typeof QUESTION_ENDS)[number];
  readonly answer?: QuestionAnswer;
}

/** The event of the frame that reports the end of a question. */
export const QUESTION_RESOLVED = 'question.resolved';
