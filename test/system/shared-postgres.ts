import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../packages/core/test-support/postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A URL in which `SCHEMA` stands for the schema of a server; `undefined` where servers have a store of their own. */
    sharedPostgres: string | undefined;
  }
}

/** With `DRAGOMAN_TEST_STORE=postgres`, every server of the system tests that does not ask for a store has a schema of one PostgreSQL. */
export async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  provide('sharedPostgres', undefined);
  if (process.env['DRAGOMAN_TEST_STORE'] !== 'postgres') return undefined;
  const postgres = await startPostgres();
  if (postgres === undefined)
    throw new Error('this platform has no PostgreSQL to test with: install one, so that initdb is found');
  provide('sharedPostgres', postgres.url('SCHEMA'));
  return () => postgres.stop();
}
