import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const examples = fileURLToPath(new URL('../examples/', import.meta.url));
const built = fileURLToPath(new URL('../packages/protocols/dist/index.js', import.meta.url));

/** Each example is a folder with one module to run; it checks itself. */
const runnable = readdirSync(examples, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /^[^/]+\/tour\.mjs$/.test(file),
);

test('the packages are built (npm run build)', () => {
  expect(existsSync(built)).toBe(true);
});

test.each(runnable)('examples/%s runs and finds itself right', (file) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [examples + file], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^All \d+ steps hold\.$/m);
  expect(status).toBe(0);
});
