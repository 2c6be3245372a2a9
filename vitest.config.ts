import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const setupFiles = ['test/same-cases.ts'];
const resolve = { conditions: ['dragoman:source', 'node', 'import', 'default'] };

/** Tests run from source. Slow is not wrong: these machines are shared, so only what hangs is cut off. */
function project(name: string, include: string[], more: TestProjectInlineConfiguration['test'] = {}) {
  const patience = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 30_000 } } };
  return { resolve, ssr: { resolve }, test: { name, include, ...patience, ...more } };
}

/**
 * For tests that look at nearly every source: Node loads those in half the time it takes to transform them. A newer Node has
 * tsx read the JSON of libraries as well, and fails; there they are transformed as everywhere.
 */
const loadedByNode = /^v20\./.test(process.version)
  ? {
      execArgv: ['--import', 'tsx', '--conditions=dragoman:source'],
      server: { deps: { external: [/\/(packages|scripts)\//] } },
    }
  : { pool: 'threads' };

/** A third of the system tests: those that depend on the store, and end within seconds. */
const ON_POSTGRES = [
  'hostile/admin-key',
  'hostile/anonymous',
  'hostile/redaction',
  'system/a2a-identity',
  'system/a2a-messages',
  'system/a2a-questions',
  'system/acp-restart',
  'system/administration',
  'system/agent-questions',
  'system/canary',
  'system/data-labels',
  'system/e2a-frames',
  'system/explain',
  'system/forgetting',
  'system/identity',
  'system/lf-a2a',
  'system/lf-a2a-list',
  'system/lf-a2a-push',
  'system/lf-a2a-questions',
  'system/mailbox',
  'system/mailbox-callbacks',
  'system/mailbox-held',
  'system/mailbox-questions',
  'system/mcp-questions',
  'system/mcp-upstream',
  'system/metrics',
  'system/openai',
  'system/protocol-paths',
  'system/questions',
  'system/reload',
  'system/secrets',
  'system/stored-workflows',
  'system/wire-durable',
  'system/wire-namespaces',
  'system/workflow-approval',
  'system/workflow-restart',
].map((name) => `test/${name}.test.ts`);
for (const file of ON_POSTGRES)
  if (!existsSync(join(import.meta.dirname, file))) throw new Error(`ON_POSTGRES names a missing file: ${file}`);

export default defineConfig({
  test: {
    // Two even where there are only two cores: most of the slow ones wait for other processes.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      // No module keeps anything of its own, so files may share what one of them has loaded: half the work. Nor does a package: what
      // it is made of would be read and loaded again for each one that uses it.
      project('packages', ['packages/*/src/**/*.test.ts'], { isolate: false, setupFiles }),
      project('repository', ['test/*.test.ts'], { isolate: false, ...loadedByNode }),
      // What a reader or a user of the packages does, with the packages as they get them.
      project('built', ['test/docs-run/**/*.test.ts', 'test/publish/*.test.ts'], {
        globalSetup: ['test/docs-run/build.ts'],
      }),
      project('system', ['test/system/**/*.test.ts', 'test/hostile/*.test.ts'], {
        isolate: false,
        setupFiles,
        globalSetup: ['test/system/build-server.ts', 'test/system/shared-postgres.ts'],
      }),
      // A third of `system` once more, on PostgreSQL. All of it: DRAGOMAN_TEST_STORE=postgres.
      project('postgres', ON_POSTGRES, {
        isolate: false,
        setupFiles,
        globalSetup: ['test/system/build-server.ts', 'test/system/shared-postgres.ts'],
      }),
      // The console in a real browser. Beside other files: one at a time, they would run alone after all others, on one core.
      project('console', ['test/console/*.test.ts'], {
        globalSetup: ['test/system/build-server.ts', 'test/system/shared-postgres.ts'],
      }),
      // The tour comes last, when everything it passes through has been tested by itself.
      project('tour', ['test/tour/*.test.ts'], { sequence: { groupOrder: 1 } }),
    ],
  },
});
