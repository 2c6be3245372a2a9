import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Caller } from '../system/caller.ts';
import { moduleAgent, System } from '../system/system.ts';

const why = prlimitWorks() ? '' : ' (not here: prlimit is missing)';

test.skipIf(why !== '')(
  `without a free descriptor, open connections are served, the log is moved, and nothing leaks${why}`,
  { timeout: 240_000 },
  async () => {
    await using system = await System.start({
      needsFolder: 'the log of its database must be moved',
      config: { default_agent: 'echo', agents: { echo: moduleAgent('echo') } },
    });
    const caller = new Caller(system, (await system.caller('caller-agent')).api_key);
    const socket = await caller.socket();
    await socket.ask(envelope(-1));
    const before = descriptorsOf(system.pid);
    // Not one more can be opened.
    limit(system.pid, before);
    // Envelope and answer together are several times as long as the log may become.
    for (let number = 0; number < MANY; number += 1) {
      const frames = await socket.ask(envelope(number));
      expect(JSON.parse(frames.at(-1) ?? '')).toMatchObject({ is_final: true, status: 'succeeded' });
    }
    expect(statSync(join(system.data, 'dragoman.db')).size).toBeGreaterThan(LOG_BYTES);
    expect(descriptorsOf(system.pid)).toBeLessThanOrEqual(before);
    limit(system.pid, 1024);
    const frames = await caller.resume(`r${MANY - 1}`);
    expect(frames.length).toBeGreaterThan(0);
    socket.close();
    expect(system.log).not.toContain('EMFILE');
    expect(await system.stop()).toEqual({ code: 0, signal: null });
  },
);

function envelope(number: number) {
  return { request_id: `r${number}`, method: 'chat.send', params: { content: 'x'.repeat(LENGTH) } };
}

function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function limit(pid: number, descriptors: number): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--nofile=${descriptors}:`], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
}

function prlimitWorks(): boolean {
  return spawnSync('prlimit', ['--version']).status === 0;
}

const LENGTH = 400_000;
const MANY = 60;
const LOG_BYTES = 16_777_216;
