import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { Ballast } from './ballast.ts';

const root = mkdtempSync(join(tmpdir(), 'dragoman-ballast-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let path: string;

beforeEach(() => {
  path = join(mkdtempSync(join(root, 'b-')), 'ballast');
});

describe('the ballast', () => {
  test('takes real space, for its owner only, until it is given up', () => {
    const ballast = new Ballast({ path, bytes: 3_000_000 });
    expect(ballast.held).toBe(false);
    expect(ballast.restore()).toBe(true);
    const { size, blocks, mode } = statSync(path);
    expect([size, blocks * 512 >= 3_000_000, mode & 0o777]).toEqual([3_000_000, true, 0o600]);
    ballast.release();
    expect([existsSync(path), ballast.held]).toEqual([false, false]);
  });

  test('of the last start is still good; one of another size is made again', () => {
    new Ballast({ path, bytes: 4096 }).restore();
    expect(new Ballast({ path, bytes: 4096 }).held).toBe(true);
    const larger = new Ballast({ path, bytes: 8192 });
    expect(larger.held).toBe(false);
    expect(larger.restore()).toBe(true);
    expect(statSync(path).size).toBe(8192);
  });

  test('is not put where there is no room for it', () => {
    const ballast = new Ballast({ path, bytes: Number.MAX_SAFE_INTEGER });
    expect(ballast.restore()).toBe(false);
    expect(existsSync(path)).toBe(false);
  });

  test('of no bytes is always there and never a file', () => {
    const ballast = new Ballast({ path, bytes: 0 });
    ballast.release();
    expect([ballast.held, ballast.restore(), existsSync(path)]).toEqual([true, true, false]);
  });
});
