import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ROOT } from './page.ts';

/** Each example is a folder with `run.mjs`, which checks itself; `support` is what they share. */
const examples = readdirSync(`${ROOT}examples`).filter((name) => name !== 'support' && name !== 'README.md');

describe.concurrent('an example', { timeout: 120_000 }, () => {
  test.for(examples)('examples/%s runs and finds itself right', async (name) => {
    const file = `${ROOT}examples/${name}/run.mjs`;
    expect(existsSync(file), `${file} is there`).toBe(true);
    const { code, stdout, stderr } = await run(file);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^All \d+ checks passed\.$/m);
    expect(code).toBe(0);
  });
});

test('every example is listed', () => {
  const list = readFileSync(`${ROOT}examples/README.md`, 'utf8');
  expect(examples.filter((name) => !list.includes(`(${name}/run.mjs)`))).toEqual([]);
});

function run(file: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [file], (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr });
    });
  });
}
