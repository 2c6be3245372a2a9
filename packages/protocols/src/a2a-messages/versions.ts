// The supported versions, newest last; used by cards, published schemas and their packages.

export const PROTOCOL_VERSIONS = ['A2A/1.0'] as const;

/**
 * The versions of the schemas: major for breaking changes, minor for additions, patch for fixes (Schema Versioning).
 */
export const SCHEMA_VERSIONS = ['1.0.0'] as const;
export const SCHEMA_VERSION = SCHEMA_VERSIONS[0];
