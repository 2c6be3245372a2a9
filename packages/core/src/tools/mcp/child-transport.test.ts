import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@dragoman/protocols';
import { afterAll, expect, test } from 'vitest';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { systemClock } from '../../../test-support/system-clock.ts';
import { JsonReader } from '../../worker-threads/json-reader.ts';
import { ChildTransport } from './child-transport.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-child-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program of these lines, started; it ends by itself when a test does not end it, later than a test may take. */
async function started(script: string, clock = systemClock, reader = new JsonReader()) {
  const log = new SilentLog();
  const args = ['-e', `setTimeout(() => process.exit(), 90_000); ${script}`];
  const parts = {
    server: 'it',
    command: process.execPath,
    args,
    env: {},
    folder,
    clock,
    log,
    reader,
  };
  const transport = new ChildTransport(parts);
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const taken: JsonObject[] = [];
  const failed: string[] = [];
  await transport.start({
    awaits: (id) => id === 1,
    take: (message) => taken.push(message),
    fail: (_id, { message }) => failed.push(message),
    closed: close,
  });
  return { transport, closed, log, taken, failed };
}

test('a program that is cut off ends also when it does not listen to that', async () => {
  let seconds = 0;
  // The clock moves a second at each look, so fast output does not count as a flood.
  const clock = { ...systemClock, elapsed: () => ++seconds * 1_000 };
  const { closed, log } = await started(
    "process.on('SIGTERM', () => {}); setTimeout(() => process.stdout.write('x'.repeat(65 * 1024 * 1024)), 100);",
    clock,
  );
  await closed;
  expect(JSON.stringify(log.lines)).toContain('it sent a line that is too long');
});

test('a program that does not read is sent no more than the unread limit', async () => {
  const { transport, closed } = await started('');
  const message = (size: number) => ({ jsonrpc: '2.0', method: 'x', params: { text: 'x'.repeat(size) } });
  transport.send(message(33 * 1024 * 1024));
  await new Promise((resolve) => setImmediate(resolve));
  expect(() => transport.send(message(1))).toThrow('the program of the MCP server does not read');
  await transport.close();
  await closed;
});

const LONG_THEN_SHORT =
  'const text = "x".repeat(300_000);' +
  'process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { text } }) + "\\n" + ' +
  'JSON.stringify({ jsonrpc: "2.0", method: "notifications/message" }) + "\\n", () => process.exit());';

test('a long message is read in the thread, and those behind it wait, even when the program has ended', async () => {
  const { closed, taken } = await started(LONG_THEN_SHORT);
  await closed;
  expect(taken.map(({ id, method }) => id ?? method)).toEqual([1, 'notifications/message']);
  expect(taken[0]).toMatchObject({ result: { text: 'x'.repeat(300_000) } });
});

test('a long answer that the thread cannot read fails its request', async () => {
  const reader = new JsonReader();
  await reader[Symbol.asyncDispose]();
  const { closed, failed } = await started(LONG_THEN_SHORT, systemClock, reader);
  await closed;
  expect(failed).toEqual([expect.stringContaining('it could not be read')]);
});
