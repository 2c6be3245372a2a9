import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { systemClock } from '../../../test-support/system-clock.ts';
import { ChildTransport } from './child-transport.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-child-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program of these lines, started; it ends by itself when a test does not end it, later than a test may take. */
async function started(script: string, clock = systemClock) {
  const log = new SilentLog();
  const args = ['-e', `setTimeout(() => process.exit(), 90_000); ${script}`];
  const parts = { server: 'it', command: process.execPath, args, env: {}, folder, clock, log };
  const transport = new ChildTransport(parts);
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  await transport.start({ awaits: () => false, take: () => {}, fail: () => {}, closed: close });
  return { transport, closed, log };
}

test('a program that is cut off ends also when it does not listen to that', async () => {
  let seconds = 0;
  // A second at each look: however quickly it comes, it is no flood.
  const clock = { ...systemClock, elapsed: () => ++seconds * 1_000 };
  const { closed, log } = await started(
    "process.on('SIGTERM', () => {}); setTimeout(() => process.stdout.write('x'.repeat(65 * 1024 * 1024)), 100);",
    clock,
  );
  await closed;
  expect(JSON.stringify(log.lines)).toContain('it sent a line without end');
});

test('a program that does not read is told no more than it may leave unread', async () => {
  const { transport, closed } = await started('');
  const message = (size: number) => ({ jsonrpc: '2.0', method: 'x', params: { text: 'x'.repeat(size) } });
  transport.send(message(33 * 1024 * 1024));
  await new Promise((resolve) => setImmediate(resolve));
  expect(() => transport.send(message(1))).toThrow('the program of the MCP server does not read');
  await transport.close();
  await closed;
});
