import { once } from 'node:events';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { UnreadBudget, type WireSink } from '@dragoman/core';
import { describe, expect, test } from 'vitest';
import { SilentLog } from '../../../core/test-support/silent-log.ts';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import { completeConfig } from '../config/complete-config.ts';
import { lineLimits } from '../config/endpoint-limits.ts';
import { systemClock } from '../parts/system-ports.ts';
import { openIntake } from './intake.ts';
import { DEFAULT_LINE_LIMITS, type LineConnection, type LineHost, serveLines } from './ndjson-lines.ts';
import { NdjsonSocketEdge } from './ndjson-socket.ts';

/** A host that records its lines, and answers each with a configured number of bytes. */
class Listener implements LineHost {
  readonly received: string[] = [];
  readonly #answer: string;

  constructor(answer = '') {
    this.#answer = answer;
  }

  connect(sink: WireSink): LineConnection {
    return {
      receiveLine: (line) => {
        this.received.push(line.ok ? Buffer.from(line.value).toString() : 'a fault');
        if (this.#answer !== '') sink.send(this.#answer);
      },
      end: () => {
        this.received.push('the end');
        sink.close();
      },
      lost: () => sink.close(),
    };
  }
}

function serve(host: LineHost, limits = DEFAULT_LINE_LIMITS, unread?: UnreadBudget) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const clock = new TestClock();
  void serveLines({ input, output }, { host, clock, limits, unread });
  return { input, output, clock };
}

/** The same, but it wants to hear who its peer is before anything else. */
class IdentifyingHost extends Listener {
  override connect(sink: WireSink): LineConnection {
    let isUnproven = true;
    const connection = super.connect(sink);
    return {
      ...connection,
      receiveLine: (line) => {
        connection.receiveLine(line);
        if (line.ok && Buffer.from(line.value).toString() === 'it is me') isUnproven = false;
      },
      get isUnproven() {
        return isUnproven;
      },
    };
  }
}

const MANY = 5_000;

test('peers that do not read share the budget, and read bytes no longer count', async () => {
  const unread = new UnreadBudget({ maxBytes: 300_000, clock: new TestClock(), log: new SilentLog() });
  const host = new Listener('x'.repeat(200_000));
  const [first, reading] = [serve(host, undefined, unread), serve(host, undefined, unread)];
  first.input.write('one\n');
  await expect.poll(() => host.received.length).toBe(1);
  expect(first.output.destroyed).toBe(false);
  reading.output.resume();
  for (let line = 0; line < 5; line += 1) {
    reading.input.write('one\n');
    await expect.poll(() => host.received.length).toBe(line + 2);
    await expect.poll(() => reading.output.writableLength).toBe(0);
  }
  // Above the budget only while it was on its way, and the one that was sending is not the one to go.
  expect([first.output.destroyed, reading.output.destroyed]).toEqual([true, false]);
  const [second, third] = [serve(host, undefined, unread), serve(host, undefined, unread)];
  second.input.write('one\n');
  third.input.write('one\n');
  await expect.poll(() => second.output.destroyed).toBe(true);
  expect([third.output.destroyed, unread.drops]).toEqual([false, 2]);
});

test('a peer that leaves gives back what it has not read', async () => {
  const unread = new UnreadBudget({ maxBytes: 300_000, clock: new TestClock(), log: new SilentLog() });
  const host = new Listener('x'.repeat(200_000));
  for (let peer = 1; peer <= 3; peer += 1) {
    const { input, output } = serve(host, undefined, unread);
    input.write('one\n');
    await expect.poll(() => host.received.length).toBe(peer);
    output.destroy();
    await once(output, 'close');
  }
  expect(unread.drops).toBe(0);
});

test('thousands of lines in one chunk do not delay other peers', async () => {
  const host = new Listener();
  const [many, one] = [serve(host), serve(host)];
  many.input.write('x\n'.repeat(MANY));
  one.input.write('me too\n');
  await expect.poll(() => host.received.length).toBe(MANY + 1);
  expect(host.received.indexOf('me too')).toBeLessThan(MANY / 2);
});

test('every line is received in order, and then the end', async () => {
  const host = new Listener();
  const intake = openIntake({ clock: systemClock, rates: { messagesPerMinute: 1_000_000_000 } });
  await using edge = new NdjsonSocketEdge({ host, clock: systemClock, intake });
  const { port } = new URL(await edge.listenTcp({ host: '127.0.0.1', port: 0 }));
  const lines = Array.from({ length: MANY }, (_, at) => `line ${at}`);
  // A socket reports its end even while it is not read.
  const socket = connect(Number(port), '127.0.0.1').resume();
  socket.end(`${lines.join('\n')}\nhalf a line`);
  await once(socket, 'close');
  expect(host.received).toEqual([...lines, 'a fault', 'the end']);
});

test('a peer that reads none of its answers is not read until it does, however much arrived in one chunk', async () => {
  const answer = 'x'.repeat(10_000);
  const host = new Listener(answer);
  const { input, output } = serve(host);
  input.write('x\n'.repeat(MANY));
  await expect.poll(() => output.writableLength).toBeGreaterThan(DEFAULT_LINE_LIMITS.maxUnsentBytes);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  // The lines of one turn may be answered past the limit.
  expect(host.received.length).toBeLessThanOrEqual(2 * DEFAULT_LINE_LIMITS.linesATurn);
  output.resume();
  await expect.poll(() => host.received.length).toBe(MANY);
});

test('a peer that sends more than its rate is not read until it has passed, and loses nothing', async () => {
  const host = new Listener();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const clock = new TestClock();
  const intake = openIntake({ clock, rates: { messagesPerMinute: 6_000 } });
  void serveLines({ input, output }, { host, clock, limits: DEFAULT_LINE_LIMITS, intake });
  input.write('x\n'.repeat(63));
  await expect.poll(() => host.received.length).toBe(63);
  input.write('y\n');
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  expect(host.received).not.toContain('y');
  clock.pass(60_000);
  await expect.poll(() => host.received.at(-1)).toBe('y');
});

test('a line without an end is one fault, and closes the connection when it continues', async () => {
  const host = new Listener();
  const limits = { maxLineBytes: 1_000, maxBytesWithoutNewline: 10_000 };
  // No time passes, so that it is not cut off for being slow.
  await using edge = new NdjsonSocketEdge({ host, clock: new TestClock(), limits });
  const { port } = new URL(await edge.listenTcp({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), '127.0.0.1').resume();
  socket.on('error', () => {});
  socket.write('x'.repeat(5_000));
  await expect.poll(() => host.received).toEqual(['a fault']);
  socket.write(`${'x'.repeat(4_000)}\nstill there\n`);
  await expect.poll(() => host.received).toEqual(['a fault', 'still there']);
  const closed = once(socket, 'close');
  socket.write('x'.repeat(11_000));
  await closed;
  expect(host.received).toEqual(['a fault', 'still there', 'a fault']);
});

test('a line may be as long as its limit, even above the length that closes other connections', async () => {
  const host = new Listener();
  const { input, output } = serve(host, {
    ...DEFAULT_LINE_LIMITS,
    maxLineBytes: 20_000,
    maxBytesWithoutNewline: 10_000,
  });
  const line = 'x'.repeat(20_000);
  for (const part of [line.slice(0, 15_000), line.slice(15_000), '\n']) {
    input.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => host.received).toEqual([line]);
  // Past the limit it is a fault first, and closes the connection when it continues.
  input.write('x'.repeat(20_001));
  await expect.poll(() => host.received).toEqual([line, 'a fault']);
  expect(output.destroyed).toBe(false);
  input.write('x'.repeat(20_000));
  await expect.poll(() => output.destroyed).toBe(true);
});

test('an unfinished line has a time limit, however it arrives', async () => {
  const clock = new TestClock();
  const host = new Listener();
  await using edge = new NdjsonSocketEdge({ host, clock });
  const { port } = new URL(await edge.listenTcp({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), '127.0.0.1').resume();
  socket.write('whole\nhalf');
  await expect.poll(() => host.received).toEqual(['whole']);
  await expect.poll(() => clock.waiting).toBe(1);
  clock.pass(DEFAULT_LINE_LIMITS.lineMs - 1);
  socket.write(' and the rest\nhalf again');
  await expect.poll(() => host.received).toEqual(['whole', 'half and the rest']);
  const closed = once(socket, 'close');
  clock.pass(DEFAULT_LINE_LIMITS.lineMs);
  await closed;
});

test('a line that arrives byte by byte has the same time limit', async () => {
  const { input, output, clock } = serve(new Listener());
  for (let bytes = 0; bytes < 10; bytes++) {
    expect(output.destroyed).toBe(false);
    input.write('x');
    await new Promise((resolve) => setImmediate(resolve));
    clock.pass(DEFAULT_LINE_LIMITS.lineMs / 10);
  }
  expect(output.destroyed).toBe(true);
});

test('a peer that reads none of its answers is disconnected after a while', async () => {
  const { input, output, clock } = serve(new Listener('x'.repeat(1_000_000)));
  input.write('x\n'.repeat(2));
  await expect.poll(() => output.writableLength).toBeGreaterThan(DEFAULT_LINE_LIMITS.maxUnsentBytes);
  clock.pass(DEFAULT_LINE_LIMITS.stallMs - 1);
  expect(output.destroyed).toBe(false);
  clock.pass(1);
  expect(output.destroyed).toBe(true);
  await expect.poll(() => clock.waiting).toBe(0);
});

test('a line that is whole, but behind answers that the peer does not read, is not cut off for being slow', async () => {
  const host = new Listener('x'.repeat(10_000));
  const { input, output, clock } = serve(host);
  // The unfinished line ends in the first turn of the next chunk, and a new one starts in its last.
  input.write('half');
  await expect.poll(() => clock.waiting).toBe(1);
  input.write(`\n${'x\n'.repeat(MANY)}half`);
  await expect.poll(() => output.writableLength).toBeGreaterThan(DEFAULT_LINE_LIMITS.maxUnsentBytes);
  clock.pass(DEFAULT_LINE_LIMITS.lineMs);
  expect(output.destroyed).toBe(false);
  output.resume();
  await expect.poll(() => host.received.length).toBe(MANY + 1);
});

test('a line gets its full time again when the peer is read again', async () => {
  const host = new Listener('x'.repeat(1_000_000));
  const { input, output, clock } = serve(host);
  input.write(`${'x\n'.repeat(2)}half`);
  await expect.poll(() => output.writableLength).toBeGreaterThan(DEFAULT_LINE_LIMITS.maxUnsentBytes);
  input.write(' and the rest\n');
  clock.pass(DEFAULT_LINE_LIMITS.lineMs);
  expect(output.destroyed).toBe(false);
  output.resume();
  await expect.poll(() => host.received).toEqual(['x', 'x', 'half and the rest']);
  input.write('half again');
  await expect.poll(() => clock.waiting).toBe(1);
  clock.pass(DEFAULT_LINE_LIMITS.lineMs);
  expect(output.destroyed).toBe(true);
});

test('an answer that is longer than all a peer may leave unread reaches one that reads', async () => {
  const host = new Listener('x'.repeat(8_000_000));
  const limits = lineLimits(completeConfig({ limits: { buffer_bytes: 1024 } }).limits);
  await using edge = new NdjsonSocketEdge({ host, clock: systemClock, limits });
  const { port } = new URL(await edge.listenTcp({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), '127.0.0.1');
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.end('one\ntwo\n');
  await once(socket, 'close');
  expect(bytes).toBe(2 * 8_000_001);
});

test('a peer that may leave less unread than its stream buffers is read again when it has caught up', async () => {
  const host = new Listener('x'.repeat(5_000));
  const { input, output } = serve(host, { ...DEFAULT_LINE_LIMITS, maxUnsentBytes: 1024 });
  // One after the other, until one answer more than the stream gives on has to wait.
  while (output.writableLength === 0) {
    input.write('x\n');
    await new Promise((resolve) => setImmediate(resolve));
  }
  const before = host.received.length;
  input.write('still there\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(host.received).toHaveLength(before);
  output.resume();
  await expect.poll(() => host.received.at(-1)).toBe('still there');
});

describe('a peer that has not identified itself', () => {
  test.each([
    ['without an end', 'x'.repeat(65_537)],
    ['with one', `${'x'.repeat(65_537)}\n`],
  ])('gets an error for a line of more than 64 KiB %s, and is disconnected', async (_, text) => {
    const host = new IdentifyingHost('what is wrong with it');
    await using edge = new NdjsonSocketEdge({ host, clock: systemClock });
    const { port } = new URL(await edge.listenTcp({ host: '127.0.0.1', port: 0 }));
    const socket = connect(Number(port), '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.write(text);
    await once(socket, 'end');
    socket.destroy();
    expect(answer).toBe('what is wrong with it\n');
    expect(host.received).toEqual(['a fault', 'the end']);
  });

  test('may send up to that, and any length once identified, wherever the stream is cut', async () => {
    const first = 'x'.repeat(65_536);
    const long = 'y'.repeat(1_000_000);
    const bytes = Buffer.from(`${first}\nit is me\n${long}\n`);
    for (const cut of [1, 65_536, 65_537, 65_540, 65_546, 65_547, 500_000]) {
      const host = new IdentifyingHost();
      const { input } = serve(host);
      input.write(bytes.subarray(0, cut));
      input.write(bytes.subarray(cut));
      await expect.poll(() => host.received.length).toBe(3);
      expect(host.received).toEqual([first, 'it is me', long]);
    }
  });
});
