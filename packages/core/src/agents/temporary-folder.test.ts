import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isAlive } from '../../test-support/is-alive.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { killGroup, recordChild } from '../processes/orphans.ts';
import { eventually } from './call.contract.ts';
import { childrenFolder } from './stdio-agent.ts';
import { temporaryFolder } from './temporary-folder.ts';

let root = '';
let log = new SilentLog();
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dragoman-test-'));
  log = new SilentLog();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('it is in a folder that only this user can access, and can be removed', () => {
  const place = join(root, 'made', 'for-it');
  const folder = temporaryFolder({ places: [place], log });
  expect(dirname(folder.path)).toBe(place);
  mkdirSync(join(folder.path, 'sub'));
  folder.remove();
  expect(readdirSync(place)).toEqual([]);
  expect(log.lines).toEqual([]);
});

describe('a place that other users can access is not used', () => {
  test.each<[string, (place: string) => void]>([
    [
      'other users can access it',
      (place) => {
        mkdirSync(place);
        chmodSync(place, 0o711);
      },
    ],
    [
      'it is a link to another folder',
      (place) => {
        mkdirSync(`${place}-elsewhere`, { mode: 0o700 });
        symlinkSync(`${place}-elsewhere`, place);
      },
    ],
  ])('%s', (_, plant) => {
    const [planted, other] = [join(root, 'planted'), join(root, 'other')];
    plant(planted);
    expect(dirname(temporaryFolder({ places: [planted, other], log }).path)).toBe(other);
    expect(log.lines).toEqual([]);
    const alone = temporaryFolder({ places: [planted], log });
    expect(dirname(alone.path)).toBe(tmpdir());
    alone.remove();
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { places: [planted] } }]);
  });
});

describe.runIf(existsSync('/proc/self/stat'))('the folder of another host', () => {
  test('is removed when the host is gone, and its child processes are ended', async () => {
    const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], { detached: true });
    const pid = child.pid ?? 0;
    try {
      await once(child.stdout, 'data');
      leaveBehind(pid);
      const { path } = temporaryFolder({ places: [root], log });
      expect(readdirSync(root)).toEqual([basename(path)]);
      await eventually(() => isAlive(pid)).toBe(false);
      expect(log.lines).toMatchObject([{ level: 'warn', fields: { agent: 'mcp:left', pid } }]);
    } finally {
      killGroup(pid);
    }
  });

  test('stays while the host runs, or where that is unknown', () => {
    const { path } = temporaryFolder({ places: [root], log });
    const elsewhere = join(root, basename(path).replace(/^\d+/, '1'));
    mkdirSync(elsewhere);
    mkdirSync(join(root, 'something else'));
    temporaryFolder({ places: [root], log });
    expect(readdirSync(root)).toHaveLength(4);
    expect(existsSync(path) && existsSync(elsewhere)).toBe(true);
  });
});

/** A folder with a recorded child process, as an earlier process with this pid would have left it. */
function leaveBehind(pid: number): void {
  const { path } = temporaryFolder({ places: [root], log });
  const left = path.replace(/-\d+-([^-]*)$/, '-1-$1');
  renameSync(path, left);
  const folder = childrenFolder(left);
  recordChild({ folder, agentId: 'mcp:left', pid });
  const record = JSON.parse(readFileSync(join(folder, `${pid}.json`), 'utf8'));
  writeFileSync(join(folder, `${pid}.json`), JSON.stringify({ ...record, owner: { ...record.owner, startedAt: '1' } }));
}
