import { defineConfig } from 'vitest/config';

const resolve = { conditions: ['dragoman:source', 'node', 'import', 'default'] };

/** Tests run from source. Slow is not wrong: these machines are shared, so only what hangs is cut off. */
function project(name: string, include: readonly string[], globalSetup: string[] = []) {
  return {
    resolve,
    ssr: { resolve },
    test: { name, include: [...include], globalSetup, testTimeout: 60_000, hookTimeout: 60_000 },
  };
}

export default defineConfig({
  test: {
    projects: [
      ...['protocols', 'core', 'server', 'client', 'cli'].map((name) =>
        project(name, [`packages/${name}/src/**/*.test.ts`]),
      ),
      project('repository', ['test/*.test.ts']),
      project('built', ['test/docs-run/**/*.test.ts', 'test/publish/*.test.ts'], ['test/docs-run/build.ts']),
      project('system', ['test/system/**/*.test.ts']),
    ],
  },
});
