import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asking, failureFrom, GateBench, textOf } from './gate.contract.ts';

let bench: GateBench;
beforeEach(() => {
  bench = new GateBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('an allowed host', () => {
  test('is asked, and its answer comes back as it is', async () => {
    const port = await bench.serve(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      const { method, url, headers } = request;
      response.setHeader('x-two', ['1', '2']).end(JSON.stringify({ method, url, headers, body }));
    });
    const answer = await bench.open().request(
      asking(`http://127.0.0.1:${port}/a?b=c`, {
        method: 'POST',
        query: [['ä b', '&=']],
        headers: { 'X-Own': 'yes' },
        body: { json: { hello: 'there' } },
      }),
    );
    expect(answer.status).toBe(200);
    expect(answer.headers['x-two']).toEqual(['1', '2']);
    expect(JSON.parse(await textOf(answer))).toEqual({
      method: 'POST',
      url: '/a?b=c&%C3%A4%20b=%26%3D',
      headers: {
        host: `127.0.0.1:${port}`,
        connection: 'keep-alive',
        'x-own': 'yes',
        'user-agent': 'dragoman',
        'content-type': 'application/json',
        'content-length': '17',
      },
      body: '{"hello":"there"}',
    });
  });

  test('answers the next request over a connection it has, but never over one of another caller', async () => {
    const callersOf = new Map<unknown, Set<string>>();
    const port = await bench.serve((request, response) => {
      const callers = callersOf.get(request.socket) ?? new Set();
      callersOf.set(request.socket, callers.add(String(request.headers['x-caller'])));
      response.end('x');
    });
    const gate = bench.open();
    for (let round = 0; round < 30; round += 1) {
      const caller = round % 3 === 0 ? 'ada' : 'bob';
      const headers = { 'x-caller': caller };
      await textOf(await gate.request(asking(`http://127.0.0.1:${port}/`, { caller, headers })));
    }
    expect([...callersOf.values()].map((callers) => callers.size)).toEqual([...callersOf].map(() => 1));
    expect(callersOf.size).toBeLessThanOrEqual(4);
  });

  test.each([301, 302, 303, 307, 308])('that redirects is not followed: %i', async (status) => {
    let asked = 0;
    const port = await bench.serve((_, response) => {
      asked += 1;
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
    const answer = await bench.open().request(asking(`http://127.0.0.1:${port}/`));
    expect([answer.status, answer.headers['location'], asked]).toEqual([status, '/elsewhere', 1]);
  });
});

describe('a private host that is not allowed', () => {
  test('is not asked, and why is told because the URL alone says so', async () => {
    let connections = 0;
    const port = await bench.serveTcp((socket) => {
      connections += 1;
      socket.destroy();
    });
    const gate = bench.gate({ allow: [{ host: '127.0.0.1', port: port === 1 ? 2 : 1 }] });
    for (const url of [`http://127.0.0.1:${port}`, `https://127.1:${port}`, `https://[::ffff:7f00:1]:${port}`]) {
      const failure = await failureFrom(gate.request(asking(url)));
      expect(failure).toMatchObject({ code: 'forbidden', message: expect.stringContaining('loopback') });
      expect(await gate.check(url)).toEqual(failure);
    }
    expect(connections).toBe(0);
  });
});

describe('an answer', () => {
  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('in %s is unpacked', async (coding, pack) => {
    const text = 'hello '.repeat(1000);
    const port = await bench.serve((_, response) => response.setHeader('content-encoding', coding).end(pack(text)));
    const answer = await bench.open().request(asking(`http://127.0.0.1:${port}/`));
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(await textOf(answer)).toBe(text);
  });

  test('that is larger than asked for is given up', async () => {
    const port = await bench.serve((_, response) => response.end('x'.repeat(100_001)));
    const failure = await failureFrom(bench.open().request(asking(`http://127.0.0.1:${port}/`, { maxBytes: 100_000 })));
    expect(failure).toMatchObject({ code: 'agent_failed', retryable: false, details: { sent: true } });
    expect(failure.message).toContain('larger than 100000 bytes');
  });
});
