import { expect, test } from 'vitest';
import { FolderMap } from './folder-map.ts';

test.each([
  ['/home/ann/app', '/data/s1', '/data/s1/src/a.ts', '/home/ann/app/src/a.ts'],
  ['/home/ann/app', '/data/s1', '/data/s1', '/home/ann/app'],
  ['/home/ann/app', '/data/s1', '/home/ann/app/./src/../a.ts', '/home/ann/app/a.ts'],
  ['/home/ann/app', '/data/s1', '/home/ann/application/a.ts', undefined],
  ['/home/ann/app', '/data/s1', '/home/ann/app/../b', undefined],
  ['/home/ann/app', '/data/s1', '/data/s2/a.ts', undefined],
  ['/home/ann/app', '/data/s1', 'src/a.ts', undefined],
  ['/home/ann/app', '/data/s1', '/home/ann/app/..hidden', '/home/ann/app/..hidden'],
  ['/', '/data/s1', '/etc/hosts', '/etc/hosts'],
  ['C:\\work', '/data/s1', '/data/s1/src/a.ts', 'C:\\work\\src\\a.ts'],
  ['C:\\work', '/data/s1', 'c:\\WORK\\b.ts', 'C:\\work\\b.ts'],
  ['C:\\work', '/data/s1', 'D:\\work\\b.ts', undefined],
])('in %s, which the agent knows as %s, %s is %s', (client, own, path, there) => {
  expect(new FolderMap({ client, own }).atClient(path)).toBe(there);
});
