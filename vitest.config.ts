import { defineConfig } from 'vitest/config';

const resolve = { conditions: ['dragoman:source', 'node', 'import', 'default'] };

export default defineConfig({
  test: {
    projects: [
      {
        resolve,
        ssr: { resolve },
        test: { name: 'protocols', include: ['packages/protocols/src/**/*.test.ts'], testTimeout: 60_000 },
      },
      {
        resolve,
        ssr: { resolve },
        test: { name: 'repository', include: ['test/**/*.test.ts', 'scripts/**/*.test.ts'], testTimeout: 60_000 },
      },
    ],
  },
});
