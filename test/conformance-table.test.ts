import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { A2A_OPERATIONS } from '../packages/protocols/src/lf-a2a/operations.ts';
import { TASK_STATES } from '../packages/protocols/src/lf-a2a/states.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/protocols/lf-a2a.md'), 'utf8');
const [, table = ''] = page.split('## Conformance with 1.0\n');
const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| requirement'));

test('every requirement of Linux Foundation A2A is shown by tests that exist, and by one that always runs', () => {
  expect(rows.length).toBeGreaterThan(30);
  const faults = rows.flatMap((row) => {
    const tests = [...row.matchAll(/`([\w./-]+\.test\.ts)` "([^"]+)"/g)];
    const found = tests.map(([, file = '', name = '']) => ({ file, name, runs: howItRuns(file, name) }));
    const absent = found.filter(({ runs }) => runs === undefined);
    if (absent.length > 0) return absent.map(({ file, name }) => `${file} has no test "${name}"`);
    return found.some(({ runs }) => runs === 'always') ? [] : [`no test that always runs: ${row}`];
  });
  expect(faults).toEqual([]);
});

test.each([
  ['operation', Object.keys(A2A_OPERATIONS)],
  ['error that the server sends', sentErrors()],
  ['state', TASK_STATES.map((state) => state.replace('TASK_STATE_', ''))],
])('every %s of 1.0 is named in the table', (_, names) => {
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => !rows.some((row) => new RegExp(`\\b${name}\\b`).test(row)))).toEqual([]);
});

function sentErrors(): string[] {
  const files = ['packages/core/src', 'packages/protocols/src', 'packages/server/src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('.test.'))
      .map((file) => join(root, folder, file)),
  );
  const sent = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\ba2aError\(\s*'(\w+)'/g)]);
  return [...new Set(sent.map(([, name = '']) => name))];
}

/** How a test with this name is declared; `undefined`: the file has none. */
function howItRuns(file: string, name: string): 'always' | 'sometimes' | undefined {
  const path = join(root, file.includes('/') ? file : `test/system/${file}`);
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  const at = [`'${name}'`, `"${name}"`].map((quoted) => text.indexOf(quoted)).find((found) => found !== -1);
  if (at === undefined) return undefined;
  // What stands before the name: `test(`, or the end of `test.each(…)(`, of the test or of what is around it.
  const before = text.slice(0, at).trimEnd();
  if (!/(?:\btest|\bdescribe|\))\($/.test(before)) return undefined;
  return /\b(?:test|describe)\.(?:skip|skipIf|runIf|todo)\b[^\n]*$/.test(before) ? 'sometimes' : 'always';
}
