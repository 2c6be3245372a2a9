// What this implementation speaks, the newest last. Cards, the published schemas and their packages all take it from here.

export const PROTOCOL_VERSIONS = ['A2A/1.0'] as const;

/** The versions of the schemas: major for what breaks, minor for additions, patch for mistakes (Schema Versioning). */
export const SCHEMA_VERSIONS = ['1.0.0'] as const;
export const SCHEMA_VERSION = SCHEMA_VERSIONS[0];
