import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../packages/cli/src/main.ts';
import { DragomanProcess, dragoman } from '../../packages/cli/test-support/dragoman-process.ts';
import { FakeSurroundings } from '../../packages/cli/test-support/fake-surroundings.ts';

// The last test: one story through all five protocols, as a newcomer is shown it. It runs when every other one has.

const folder = mkdtempSync(join(tmpdir(), 'dragoman-tour-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('without a server the tour starts its own, passes, and leaves nothing behind', async (context) => {
  if (await answers(7420))
    return context.skip('something answers at port 7420, where the tour looks for a server first');
  const { code, stdout, stderr } = await dragoman(['tour'], { folder });
  expect(stderr).toContain('so the tour starts its own server (npx dragoman dev starts a server that keeps running)');
  expect(stdout).toMatch(/\nAll 20 checks passed\.\n$/);
  expect(stdout).not.toContain('✗');
  expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
  expect(code).toBe(0);
  const [, url = ''] = /The tour uses (\S+)\.\n/.exec(stderr) ?? [];
  await expect(fetch(url)).rejects.toThrow();
});

describe('with a server of dragoman dev', () => {
  let dev: DragomanProcess;

  beforeAll(async () => {
    dev = new DragomanProcess(['dev', '--port', '0'], { folder });
    await dev.until(/Ctrl-C/);
  });
  afterAll(() => dev[Symbol.asyncDispose]());

  test('the tour uses that one, and prints each step as JSON on request', async () => {
    const surroundings = new FakeSurroundings({ folder, now: new Date() });
    const code = await main(['tour', '--json'], surroundings);
    const lines = surroundings.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ event, ok }) => event === 'checked' && !ok)).toEqual([]);
    expect(lines.filter(({ event }) => event === 'chapter').map(({ title }) => title)).toEqual([
      expect.stringContaining('ACP'),
      expect.stringContaining('wire'),
      expect.stringContaining('mailbox'),
      expect.stringContaining('A2A messages'),
      expect.stringContaining('resumes'),
      expect.stringContaining('explain'),
    ]);
    expect(lines.at(-1)).toEqual({ event: 'ended', ok: true, steps: 20, failed: 0 });
    expect(code).toBe(0);
  });

  test('a tour that finds a problem reports it, continues, and fails', async () => {
    const liar = join(folder, 'liar.mjs');
    writeFileSync(liar, 'export default async function* () { return { text: "I am the guide", words: 3 }; }\n');
    expect(await main(['agents', 'add', 'guide', '--module', liar], new FakeSurroundings({ folder }))).toBe(0);
    const surroundings = new FakeSurroundings({ folder, now: new Date() });
    expect(await main(['tour'], surroundings)).toBe(1);
    expect(surroundings.out).toContain('✗ the words were counted by a tool');
    expect(surroundings.out).toContain('✗ the same agent process counted one more visit');
    expect(surroundings.out).toContain('✓ no frame is missing and none arrived twice');
    expect(surroundings.out).toMatch(/\n\d+ of \d+ checks failed\.\n$/);
  });
});

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
