import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';

/** Where one server keeps its data in the PostgreSQL that all tests share, and its environment. */
export interface SharedSchema {
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** `undefined` where servers use the embedded store: without that PostgreSQL, and for the reason `needsFolder`, which is printed. */
export function sharedSchema(needsFolder?: string): SharedSchema | undefined {
  const shared = inject('sharedPostgres');
  if (shared === undefined) return undefined;
  if (needsFolder !== undefined) {
    console.info(`a server is NOT RUN on PostgreSQL: ${needsFolder}`);
    return undefined;
  }
  return { url: shared.replace('SCHEMA', `s${randomBytes(8).toString('hex')}`), environment: ENVIRONMENT };
}

/** Nothing has to survive a power cut there. */
const ENVIRONMENT = {
  DRAGOMAN_VAULT_KEY: 'ab'.repeat(32),
  DRAGOMAN_VAULT_KEY_NEXT: 'cd'.repeat(32),
  DRAGOMAN_ALLOW_FSYNC_OFF: '1',
};
