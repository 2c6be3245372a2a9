const milliseconds = { type: 'integer', minimum: 100, maximum: 600_000 } as const;

/** How several nodes on one database live together. */
export const ClusterShape = {
  type: 'object',
  description: 'Several nodes on one PostgreSQL database. Requires a `store` in PostgreSQL.',
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description: 'The name of this node. Default: the host name.',
    },
    ttl_ms: {
      ...milliseconds,
      default: 10_000,
      description: 'How long a node may be silent before the others take over its work.',
    },
    grace_ms: {
      ...milliseconds,
      default: 2000,
      description:
        'How long to wait if the connection of a node to the database is closed, before the others take over its work.',
    },
    beat_ms: {
      ...milliseconds,
      default: 1000,
      description: 'How often a node sends its heartbeat: at most a quarter of `ttl_ms` and half of `grace_ms`.',
    },
    direct_url: {
      type: 'string',
      pattern: '^postgres(ql)?://.+$',
      description: 'The URL of PostgreSQL itself, if `store` is the URL of a connection pooler.',
    },
    peer_url: {
      type: 'string',
      pattern: '^https?://[^/?#\\s]+$',
      description: 'Where other nodes reach this one, such as http://10.0.0.7:7420.',
    },
  },
  additionalProperties: false,
} as const;
