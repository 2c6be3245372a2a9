import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

describe.concurrent('static checks', { timeout: 300_000 }, () => {
  test.each([
    // One checker: with more, each repeats a part of the work, and other tests need the cores.
    ['types are correct, including tests, scripts and benchmarks', 'tsc -p tsconfig.json --checkers 1'],
    ['the protocols package compiles without the types of Node', 'tsc -p packages/protocols --noEmit'],
    ['the types of the console are correct', 'tsc -p packages/console --checkers 1'],
    ['the linter and the formatter find nothing to change (else: npm run format)', 'biome check --error-on-warnings'],
    ['no file, export or dependency is unused', 'knip --cache --no-progress --no-config-hints'],
  ])('%s', async (_, command) => {
    const { code, printed } = await run(command);
    expect(code, printed).toBe(0);
  });
});

async function run(command: string): Promise<{ code: number | null; printed: string }> {
  const child = spawn(command, {
    cwd: root,
    shell: true,
    env: { ...process.env, PATH: `${root}node_modules/.bin:${process.env['PATH']}` },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, printed };
}
