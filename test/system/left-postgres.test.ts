import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const module = fileURLToPath(new URL('../../packages/core/test-support/postgres-server.ts', import.meta.url));

test('the PostgreSQL of a test run that is killed ends with it and leaves no data', async () => {
  const code = `import { startPostgres } from ${JSON.stringify(module)}; console.log((await startPostgres()).folder);`;
  const run = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code]);
  const [text] = await once(run.stdout, 'data');
  const folder = dirname(String(text).trim());
  expect(existsSync(folder)).toBe(true);
  run.kill('SIGKILL');
  // It is deleted when the server has ended.
  await expect.poll(() => existsSync(folder)).toBe(false);
});
