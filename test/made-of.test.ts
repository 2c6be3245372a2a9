import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { madeOf } from '../scripts/made-of.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-made-of-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function digestOf(files: Readonly<Record<string, string>>): Promise<string | undefined> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const [digest] = await madeOf([join(folder, 'shape.ts')]);
  return digest;
}

test('the digest of a module changes with its code and its imports, not with comments', async () => {
  const shape = "import { LIMIT } from './limit.ts'; export const Shape = { maxLength: LIMIT };";
  const first = await digestOf({ 'shape.ts': shape, 'limit.ts': 'export const LIMIT = 5;' });
  expect(await digestOf({ 'limit.ts': '/** At most. */\nexport const LIMIT: number = 5;' })).toBe(first);
  expect(await digestOf({ 'limit.ts': 'export const LIMIT = 6;' })).not.toBe(first);
  expect(await digestOf({ 'limit.ts': 'export const LIMIT = 5;' })).toBe(first);
  expect(await digestOf({ 'shape.ts': shape.replace('max', 'min') })).not.toBe(first);
});

test('a module that cannot be read has no digest', async () => {
  await expect(digestOf({ 'shape.ts': "export * from './absent.ts';" })).rejects.toThrow();
});
