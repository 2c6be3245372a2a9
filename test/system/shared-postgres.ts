import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../packages/core/test-support/postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A URL in which `SCHEMA` stands for the schema of a server; `undefined` where servers have their own store. */
    sharedPostgres: string | undefined;
  }
}

/**
 * In the project `postgres`, and everywhere with `DRAGOMAN_TEST_STORE=postgres`, each server of the system tests that asks for no store of
 * its own has a schema of one PostgreSQL. Tests of the embedded store and its folder give the reason in `needsFolder`.
 */
export async function setup({ name, provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  provide('sharedPostgres', undefined);
  if (name !== 'postgres' && process.env['DRAGOMAN_TEST_STORE'] !== 'postgres') return undefined;
  const postgres = await startPostgres();
  provide('sharedPostgres', postgres.url('SCHEMA'));
  return () => postgres.stop();
}
