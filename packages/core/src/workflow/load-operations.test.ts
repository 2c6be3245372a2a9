import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadOperations } from './load-operations.ts';

const folder = mkdtempSync(join(tmpdir(), 'load-operations-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const operation = '{ description: { summary: "", category: "data", schema: {}, members: [] }, compile: () => () => 1 }';

test('operations of the operator join the built-in ones', async () => {
  const path = file('good.mjs', `export const operations = { CountItems: ${operation} };`);
  const { catalog, modules } = await loadOperations([path]);
  expect([catalog.find('CountItems'), catalog.find('Wait')]).toEqual([expect.anything(), expect.anything()]);
  expect(modules).toEqual([path]);
});

test('a file that is missing, or cannot be loaded, is reported with the place', async () => {
  const missing = join(folder, 'missing.mjs');
  await expect(loadOperations([missing])).rejects.toMatchObject({
    code: 'module_missing',
    message: `operations: file not found: ${missing}`,
  });
  const broken = file('broken.mjs', '\nnothing.like.this;');
  await expect(loadOperations([broken])).rejects.toMatchObject({
    code: 'module_broken',
    message: `operations: ${broken}, line 2: nothing is not defined`,
  });
});

let number = 0;
test.each([
  ['export const other = 1;', 'it exports no operations (got other).'],
  [
    `export const operations = { countItems: ${operation} };`,
    '"countItems" must be letters and digits after a capital',
  ],
  ['export const operations = { CountItems: {} };', 'CountItems.compile must be a function'],
  ['export const operations = { CountItems: { compile() {} } };', 'CountItems.description must have summary'],
  [`export const operations = { Wait: ${operation} };`, 'the operation Wait already exists'],
])('a problem in a file is reported with its name: %s', async (text, problem) => {
  const path = file(`wrong-${number++}.mjs`, text);
  const error = await loadOperations([path]).catch(String);
  expect(error).toContain(`operations ${path}: `);
  expect(error).toContain(problem);
});
