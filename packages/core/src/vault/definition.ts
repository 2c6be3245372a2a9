// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a reference is written like this
import type { Static } from '@dragoman/protocols';

const CREDENTIAL_TYPES = ['bearer-token', 'api-key', 'password', 'username'] as const;

/** The places for a secret: in a request, or in the environment of a program. */
export const PLACES = ['header', 'query', 'body', 'env'] as const;

/** The description of values that may refer to a secret. */
export const REFERENCES = 'A value may refer to a secret: `${NAME}`, `file:PATH` or `vault:ID`.';

/** The id by which requests refer to a credential. */
export const CredentialIdShape = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  pattern: '^[a-zA-Z0-9][a-zA-Z0-9._-]*$',
} as const;

/** The body of `PUT /admin/v1/credentials/{id}`. */
export const CredentialBody = {
  type: 'object',
  required: ['type', 'value'],
  properties: {
    type: {
      enum: CREDENTIAL_TYPES,
      description: 'In a header a bearer-token is sent as "Bearer VALUE"; everything else is sent unchanged.',
    },
    value: { type: 'string', minLength: 1, maxLength: 8192, description: 'The secret. It is never given back.' },
    hosts: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 260 },
      maxItems: 100,
      description: 'The hosts it may be sent to: host (port 443) or host:port. Required unless its only place is env.',
    },
    places: {
      type: 'array',
      items: { enum: PLACES },
      minItems: 1,
      maxItems: 4,
      description:
        'Where in a request it may stand; env: in the environment of a program that the configuration starts. Default: header.',
    },
    description: { type: 'string', maxLength: 500, pattern: '^[^\\u0000]*$' },
  },
  additionalProperties: false,
} as const;
export type CredentialBody = Static<typeof CredentialBody>;
