import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { builtProgram } from '../../test-support/built-program.ts';
import { isAlive } from '../../test-support/is-alive.ts';
import { SilentLog } from '../../test-support/silent-log.ts';
import { eventually } from '../agents/call.contract.ts';
import { endOrphans, killGroup, recordChild } from './orphans.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
let log: SilentLog;
const started: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
  log = new SilentLog();
});
afterEach(() => {
  for (const child of started.splice(0)) killGroup(child.pid ?? 0);
  rmSync(folder, { recursive: true });
});

describe.runIf(existsSync('/proc/self/stat'))('the children of a server that was killed', () => {
  test('are found and ended at the next start, with what they started', async () => {
    const { server, pid, child } = await doomed('stubborn');
    server.kill('SIGKILL');
    await once(server, 'exit');
    expect([isAlive(pid), isAlive(child)]).toEqual([true, true]);
    endOrphans({ folder: join(folder, 'children'), log });
    await eventually(() => [isAlive(pid), isAlive(child)]).toEqual([false, false]);
    expect(readdirSync(join(folder, 'children'))).toEqual([]);
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { agent: 'agent', pid } }]);
  });

  test('are found by what they left behind when they have ended themselves', async () => {
    const { server, pid, child } = await doomed();
    server.kill('SIGKILL');
    // This one ends with its input, and leaves its own child alone.
    await eventually(() => isAlive(pid)).toBe(false);
    expect(isAlive(child)).toBe(true);
    endOrphans({ folder: join(folder, 'children'), log });
    await eventually(() => isAlive(child)).toBe(false);
  });

  test('are left alone while their server lives', async () => {
    const { pid } = await doomed();
    endOrphans({ folder: join(folder, 'children'), log });
    expect(isAlive(pid)).toBe(true);
    expect(readdirSync(join(folder, 'children'))).toHaveLength(1);
    expect(log.lines).toEqual([]);
  });
});

describe.runIf(existsSync('/proc/self/stat'))('a process that was given the pid of a child', () => {
  test.each([
    ['that started at another time', { child: { startedAt: '1' } }],
    ['after the machine was started again', { boot: 'another boot' }],
    ['on a system without start times', { child: { startedAt: null } }],
  ])('%s is not touched', async (_, change) => {
    const innocent = await sleeper();
    const record = recordOf(innocent);
    write({ ...record, ...change, child: { ...record.child, ...('child' in change ? change.child : {}) } });
    endOrphans({ folder, log });
    expect(readdirSync(folder)).toEqual([]);
    expect(log.lines).toEqual([]);
    expect(await survives(innocent)).toBe(true);
  });

  test('is ended when it is the very same', async () => {
    const orphan = await sleeper();
    write(recordOf(orphan));
    endOrphans({ folder, log });
    expect(await survives(orphan)).toBe(false);
  });
});

test('invalid records are dropped', () => {
  const records = ['', 'null', '{', '{"agent":"a","child":{"pid":-1},"owner":{"pid":2}}', '{"agent":"a"}'];
  for (const [index, text] of records.entries()) writeFileSync(join(folder, `${index}.json`), text);
  writeFileSync(join(folder, 'other.txt'), 'not ours');
  endOrphans({ folder, log });
  expect(readdirSync(folder)).toEqual(['other.txt']);
});

test('a folder that is not there holds no orphans', () => {
  expect(() => endOrphans({ folder: join(folder, 'none'), log })).not.toThrow();
});

/** A server in its own process, with an agent that is running. */
async function doomed(...args: string[]) {
  const agent = fixture('family-agent.mjs');
  const program = builtProgram(new URL('../agents/fixtures/doomed-server.mjs', import.meta.url));
  const server = spawn(process.execPath, [program, folder, agent, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  started.push(server);
  const [text] = (await once(server.stdout, 'data')) as [Buffer];
  const { pid, child } = JSON.parse(text.toString()) as { pid: number; child: number };
  started.push({ pid } as ChildProcess);
  return { server, pid, child };
}

async function sleeper(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)'], { detached: true });
  started.push(child);
  await once(child.stdout, 'data');
  return child.pid as number;
}

/** As a server that is gone by now would have left it. */
function recordOf(pid: number) {
  const elsewhere = join(folder, 'elsewhere');
  mkdirSync(elsewhere);
  recordChild({ folder: elsewhere, agentId: 'agent', pid });
  const record = JSON.parse(readFileSync(join(elsewhere, `${pid}.json`), 'utf8')) as {
    child: { pid: number; startedAt: string };
    boot: string;
  };
  rmSync(elsewhere, { recursive: true });
  return { ...record, owner: { pid: process.pid, startedAt: '1' } };
}

function write(record: object): void {
  writeFileSync(join(folder, '1.json'), JSON.stringify(record));
}

/** Whether it lives: a signal that was sent has been delivered once another process has come and gone. */
async function survives(pid: number): Promise<boolean> {
  await once(spawn(process.execPath, ['-e', '']), 'exit');
  return isAlive(pid);
}

function fixture(name: string): string {
  return fileURLToPath(new URL(`../agents/fixtures/${name}`, import.meta.url));
}
