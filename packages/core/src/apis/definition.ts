import type { Static } from '@dragoman/protocols';
import { API_METHODS } from '@dragoman/protocols/a2e-workflow';

const description = { type: 'string', maxLength: 4000, description: 'What it is for; used by search.' } as const;

const EndpointShape = {
  type: 'object',
  required: ['method', 'path'],
  properties: {
    method: { enum: API_METHODS },
    path: {
      type: 'string',
      maxLength: 512,
      pattern: '^/[^?#\\s\\\\]*$',
      description: 'A path below the base URL; {name} matches one segment.',
    },
    description,
  },
  additionalProperties: false,
} as const;

const members = {
  base_url: {
    type: 'string',
    minLength: 1,
    maxLength: 2048,
    description: 'An https URL, or http for hosts in gate.allow.',
  },
  description,
  endpoints: { type: 'array', items: EndpointShape, maxItems: 5000 },
  allow_unlisted: {
    type: 'boolean',
    description: 'Also allow paths that `endpoints` does not list to agents without `apis: ["*"]`. Default: false.',
  },
  accepts_data_from: {
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: 300 },
    maxItems: 100,
    description:
      'Hosts (host or host:port) whose credential-protected data workflows may send to this API; "*" for any host.',
  },
} as const;

/** An API under `apis:` in the configuration. */
export const ApiShape = {
  type: 'object',
  required: ['base_url'],
  properties: members,
  additionalProperties: false,
} as const;
export type ApiShape = Static<typeof ApiShape>;

/** The body of `PUT /admin/v1/apis/{id}`: an API in full, or an OpenAPI document; members beside the document win. */
export const ApiDefinition = {
  type: 'object',
  properties: {
    ...members,
    openapi: { type: 'object', description: 'An OpenAPI 3 or Swagger 2 document, in place of the rest.' },
  },
  additionalProperties: false,
} as const;
export type ApiDefinition = Static<typeof ApiDefinition>;
