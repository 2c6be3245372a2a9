import type { JsonObject, Static } from '@dragoman/protocols';
import { GivenName } from '../apis/given-name.ts';
import { THING_TYPES } from './thing.ts';

const DocumentShape = {
  type: 'object',
  required: ['id', 'text'],
  properties: {
    id: GivenName,
    title: { type: 'string', minLength: 1, maxLength: 200 },
    text: { type: 'string', minLength: 1, maxLength: 65_536 },
    metadata: { type: 'object', description: 'Returned with a hit, not searched.' },
  },
  additionalProperties: false,
} as const;

/** The body of `PUT /admin/v1/knowledge/{id}`. */
export const KnowledgeBaseDefinition = {
  type: 'object',
  required: ['agents', 'documents'],
  properties: {
    description: { type: 'string', maxLength: 1000 },
    agents: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 128 },
      maxItems: 1000,
      description: 'Who may search it, by id. "*" means everyone; an empty list means nobody.',
    },
    documents: { type: 'array', items: DocumentShape, maxItems: 5000 },
  },
  additionalProperties: false,
} as const;
export type KnowledgeBaseDefinition = Omit<Static<typeof KnowledgeBaseDefinition>, 'documents'> & {
  readonly documents: readonly DocumentDefinition[];
};

export interface DocumentDefinition {
  readonly id: string;
  readonly title?: string;
  readonly text: string;
  readonly metadata?: JsonObject;
}

/** The body of `POST /api/v1/knowledge/search`. */
export const SearchRequest = {
  type: 'object',
  required: ['query'],
  properties: {
    query: { type: 'string', minLength: 1, maxLength: 1000, pattern: '\\S' },
    kb_id: { type: 'string', minLength: 1, maxLength: 100, description: 'Only the documents of this knowledge base.' },
    type: { enum: THING_TYPES, description: 'Only things of this kind.' },
    top_k: { type: 'integer', minimum: 1, maximum: 50, description: 'Hits at most. Default: 5.' },
    token_budget: {
      type: 'integer',
      minimum: 50,
      maximum: 1_000_000,
      description: 'Trims the answer to about this many tokens.',
    },
    partial_schema: {
      type: 'boolean',
      description: 'Adds a JSON Schema that has only the operations found.',
    },
  },
  additionalProperties: false,
} as const;
export type SearchRequest = Static<typeof SearchRequest>;
