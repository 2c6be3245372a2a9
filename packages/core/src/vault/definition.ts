import type { Static } from '@dragoman/protocols';

/** How a secret is written where it goes. */
const CREDENTIAL_TYPES = ['bearer-token', 'api-key', 'password', 'username'] as const;

/** Where in a request a secret may stand. */
export const PLACES = ['header', 'query', 'body'] as const;

/** The name a request refers to it by. */
export const CredentialIdShape = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]*$',
} as const;

/** The body of `PUT /admin/v1/credentials/{id}`. */
export const CredentialDefinition = {
  type: 'object',
  required: ['type', 'value', 'hosts'],
  properties: {
    type: {
      enum: CREDENTIAL_TYPES,
      description: 'bearer-token stands in a header as "Bearer VALUE"; the others, and it elsewhere, as they are.',
    },
    value: { type: 'string', minLength: 1, maxLength: 8192, description: 'The secret. It is never given back.' },
    hosts: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 260 },
      minItems: 1,
      maxItems: 100,
      description: 'Where it may be sent: host (port 443) or host:port.',
    },
    places: {
      type: 'array',
      items: { enum: PLACES },
      minItems: 1,
      maxItems: 3,
      description: 'Where in a request it may stand; header alone unless told.',
    },
    description: { type: 'string', maxLength: 500, pattern: '^[^\\u0000]*$' },
  },
  additionalProperties: false,
} as const;
export type CredentialDefinition = Static<typeof CredentialDefinition>;
