import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../test-support/temporary-folder.ts';
import { areDevKeysPrivate, devKeysPath, readDevKeys, writeDevKeys } from './dev-keys.ts';

const KEYS = { url: 'http://127.0.0.1:7420', key: 'dgm_a', admin_key: 'dgm_b' };

test('keys come back as they were kept, in a file for their owner only', () => {
  const folder = temporaryFolder();
  writeDevKeys(folder, { ...KEYS, key: 'old' });
  chmodSync(devKeysPath(folder), 0o644);
  writeDevKeys(folder, KEYS);
  expect(readDevKeys(folder)).toEqual(KEYS);
  expect(statSync(devKeysPath(folder)).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['dev-keys.json']);
});

test('a file whose mode was widened is noticed', () => {
  const folder = temporaryFolder();
  writeDevKeys(folder, KEYS);
  expect(areDevKeysPrivate(folder)).toBe(true);
  chmodSync(devKeysPath(folder), 0o640);
  expect(areDevKeysPrivate(folder)).toBe(false);
});

test.each(['', '[]', '{"url":1}', '{"url":"u","key":"k"}', 'not json'])('%j holds no keys', (text) => {
  const folder = temporaryFolder();
  writeFileSync(devKeysPath(folder), text);
  expect(readDevKeys(folder)).toBeUndefined();
});

test('where there is no file there are no keys', () => {
  expect(readDevKeys(temporaryFolder())).toBeUndefined();
});
