import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asking, failureFrom, GateBench, textOf } from './gate.contract.ts';
import { DEFAULT_GATE_LIMITS, GATE_LIMITS } from './limits.ts';

let bench: GateBench;
beforeEach(() => {
  bench = new GateBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

test('every limit has a default, which its minimum allows', () => {
  expect(Object.keys(DEFAULT_GATE_LIMITS)).toEqual(Object.keys(GATE_LIMITS));
  for (const [name, { minimum }] of Object.entries(GATE_LIMITS)) {
    expect(Reflect.get(DEFAULT_GATE_LIMITS, name)).toBeGreaterThanOrEqual(minimum);
  }
});

test('no more connections to an origin than the limit; the others wait their turn', async () => {
  let [open, most] = [0, 0];
  const port = await bench.serve((_, response) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      response.end('x');
    }, 20);
  });
  const gate = bench.open({ limits: { connections_per_origin: 2 } });
  await Promise.all(
    Array.from({ length: 8 }, async () => textOf(await gate.request(asking(`http://127.0.0.1:${port}/`)))),
  );
  expect(most).toBe(2);
});

test.each([
  ['header_bytes', { header_bytes: 1024 }, { 'x-long': 'a'.repeat(2000) }, Buffer.from('x')],
  [
    'unpacked_ratio',
    { unpacked_ratio: 5, unpacked_free_bytes: 1024 },
    { 'content-encoding': 'gzip' },
    gzipSync('a'.repeat(100_000)),
  ],
])('%s bounds an answer that passes without it', async (_, limits, headers, body) => {
  const port = await bench.serve((_request, response) => {
    response.writeHead(200, headers).end(body);
  });
  const url = `http://127.0.0.1:${port}/`;
  expect((await textOf(await bench.open().request(asking(url)))).length).toBeGreaterThan(0);
  expect((await failureFrom(bench.open({ limits }).request(asking(url)))).code).toBe('agent_failed');
});

test('interim responses and outgoing headers are counted up to the limits', async () => {
  const port = await bench.serveTcp((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.end(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3)}HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx`);
    });
  });
  const url = `http://127.0.0.1:${port}/`;
  expect(await textOf(await bench.open().request(asking(url)))).toBe('x');
  expect(await failureFrom(bench.open({ limits: { announcements: 2 } }).request(asking(url)))).toMatchObject({
    message: expect.stringContaining('too many interim responses'),
  });
  const headers = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`x-${at}`, 'y'.repeat(200)]));
  const messageFor = async (limits: object) =>
    (await failureFrom(bench.open({ limits }).request(asking(url, { headers })))).message;
  expect(await messageFor({ sent_header_fields: 8 })).toContain('must be at most 8 fields; got 9');
  expect(await messageFor({ sent_header_bytes: 1024 })).toContain('must be at most 1024 bytes');
});

test('a connection that is not made within connect_ms is given up', async () => {
  // It takes the connection, and never begins to speak TLS.
  const port = await bench.serveTcp((socket) => void socket.on('error', () => {}));
  const gate = bench.open({ limits: { connect_ms: 100 } });
  const failed = await failureFrom(gate.request(asking(`https://127.0.0.1:${port}/`, { timeoutMs: 60_000 })));
  expect(failed).toMatchObject({ code: 'unreachable' });
});
