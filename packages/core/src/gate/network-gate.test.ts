import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../test-support/ports.ts';
import { systemClock } from '../../test-support/system-clock.ts';
import { CredentialUse } from '../secrets/credential-use.ts';
import { asking, failureFrom, GateBench, textOf } from './gate.contract.ts';
import type { InboundAnswer } from './gate.ts';
import type { GateOptions } from './network-gate.ts';
import type { Secrets } from './secrets.ts';
import { wholeBody } from './whole-body.ts';

let bench: GateBench;
beforeEach(() => {
  bench = new GateBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('an allowed host', () => {
  test('is requested, and its answer comes back unchanged', async () => {
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

  test('reports whether its answer is complete, and then frees the connection for the next', async () => {
    const sockets = new Set<unknown>();
    let finish = () => {};
    const port = await bench.serve(({ socket, url }, response) => {
      sockets.add(socket);
      if (url === '/none') response.writeHead(204).end();
      else {
        response.write('a part');
        finish = () => response.end();
      }
    });
    const gate = bench.open();
    for (let round = 0; round < 3; round += 1) {
      expect((await gate.request(asking(`http://127.0.0.1:${port}/none`))).isOver).toBe(true);
      await new Promise(setImmediate);
    }
    expect(sockets.size).toBe(1);
    const answer = await gate.request(asking(`http://127.0.0.1:${port}/long`));
    expect(answer.isOver).toBe(false);
    finish();
    expect(await textOf(answer)).toBe('a part');
    expect(answer.isOver).toBe(true);
  });

  test('is never requested over a connection that carried another credential, or none', async () => {
    const keysOn = new Map<unknown, Set<string>>();
    const port = await bench.serve((request, response) => {
      const keys = keysOn.get(request.socket) ?? new Set();
      keysOn.set(request.socket, keys.add(String(request.headers['x-key'])));
      response.end('x');
    });
    const secrets: Secrets = {
      admit: () => {},
      noteRefusal: () => {},
      release: async (uses) => ({ key: uses.map(({ id }) => id).join(), fill: ({ id }) => `secret of ${id}` }),
      redactorFor: () => undefined,
    };
    const gate = bench.open({ secrets });
    for (let round = 0; round < 12; round += 1) {
      const headers = [{}, { 'x-key': new CredentialUse('a') }, { 'x-key': new CredentialUse('b') }][round % 3] ?? {};
      await textOf(await gate.request(asking(`http://127.0.0.1:${port}/`, { headers })));
    }
    expect([...keysOn.values()].map((keys) => keys.size)).toEqual([...keysOn].map(() => 1));
    expect([...keysOn.values()].flatMap((keys) => [...keys]).sort()).toContain('secret of a');
  });

  test('is not requested where the connection led to another address than the checked one', async () => {
    let requests = 0;
    const port = await bench.serve((_, response) => {
      requests += 1;
      response.end();
    });
    // The system takes it for 127.0.0.1.
    const gate = bench.gate({ allow: [{ host: '0.0.0.0', port }] });
    expect((await failureFrom(gate.request(asking(`http://0.0.0.0:${port}/`)))).message).toContain('another address');
    expect(requests).toBe(0);
  });

  test.each([301, 302, 303, 307, 308])('that redirects is not followed: %i', async (status) => {
    let requests = 0;
    const port = await bench.serve((_, response) => {
      requests += 1;
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
    const answer = await bench.open().request(asking(`http://127.0.0.1:${port}/`));
    expect([answer.status, answer.headers['location'], requests]).toEqual([status, '/elsewhere', 1]);
  });
});

describe('a private host that is not allowed', () => {
  test('is reached by the list it is in, and by no other, before and after the lists change', async () => {
    const port = await bench.serve((_, response) => response.end('here'));
    const host = { host: '127.0.0.1', port };
    const gate = bench.gate({ allow: [host] });
    const lists = ['allow', 'callbacks', 'none'] as const;
    const reached = async () => {
      const open: string[] = [];
      for (const allowList of lists) {
        const url = `http://127.0.0.1:${port}/`;
        const answer = await gate.request(asking(url, { allowList })).then(textOf, () => undefined);
        expect((await gate.check(url, allowList)) === undefined).toBe(answer === 'here');
        if (answer === 'here') open.push(allowList);
      }
      return open;
    };
    expect(await reached()).toEqual(['allow']);
    gate.allowOnly({ allow: [], callbacks: [host] });
    expect(await reached()).toEqual(['callbacks']);
    expect(gate.allowing([host]).judge(`http://127.0.0.1:${port}/`, 'none')).toMatchObject({ code: 'forbidden' });
  });

  test('is not requested, and the reason is reported because the URL alone shows it', async () => {
    let connections = 0;
    const port = await bench.serveTcp((socket) => {
      connections += 1;
      socket.destroy();
    });
    const gate = bench.gate({ allow: [{ host: '127.0.0.1', port: port === 1 ? 2 : 1 }] });
    for (const url of [`http://127.0.0.1:${port}`, `https://127.1:${port}`, `https://[::ffff:7f00:1]:${port}`]) {
      const failure = await failureFrom(gate.request(asking(url)));
      expect(failure).toMatchObject({ code: 'forbidden', message: expect.stringContaining('loopback') });
      expect(await gate.check(url, 'allow')).toEqual(failure);
      expect(gate.judge(url, 'allow')).toEqual(failure);
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

  test('can be read whole: from any number of pieces, with the same bounds as piece by piece', async () => {
    const port = await bench.serve((request, response) => {
      if (request.url === '/broken') {
        response.writeHead(200, { 'Content-Length': '100' }).write('half');
        setTimeout(() => response.destroy(), 20);
      } else if (request.url === '/long') response.end(Buffer.alloc(900_000, 'b'));
      else response.end(Buffer.alloc(300_000, 'a'));
    });
    const wholeOf = async (path: string, maxBytes: number) => {
      const answer = await bench.open().request(asking(`http://127.0.0.1:${port}${path}`, { maxBytes }));
      return answer.whole?.();
    };
    expect((await wholeOf('/', 300_000))?.length).toBe(300_000);
    const long = await wholeOf('/long', 900_000);
    // So that it is not copied to be handed to another thread.
    expect([long?.buffer instanceof SharedArrayBuffer, long?.every((byte) => byte === 98), long?.length]).toEqual([
      true,
      true,
      900_000,
    ]);
    expect((await failureFrom(wholeOf('/', 299_999))).message).toContain('larger than 299999 bytes');
    expect(await failureFrom(wholeOf('/broken', 1000))).toMatchObject({
      code: 'agent_failed',
      details: { sent: true },
    });
  });

  test('can be had whole only within its bound, also when all of it is there before anybody looks', async () => {
    const port = await bench.serve((_, response) => response.end('x'.repeat(3000)));
    const answer = await bench.open().request(asking(`http://127.0.0.1:${port}/`, { maxBytes: 2000 }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await failureFrom(answer.whole?.() ?? Promise.resolve())).message).toContain('larger than 2000 bytes');
  });

  test('that exceeds the limit of the caller is given up', async () => {
    const port = await bench.serve((_, response) => response.end('x'.repeat(100_001)));
    const failure = await failureFrom(bench.open().request(asking(`http://127.0.0.1:${port}/`, { maxBytes: 100_000 })));
    expect(failure).toMatchObject({ code: 'agent_failed', retryable: false, details: { sent: true } });
    expect(failure.message).toContain('larger than 100000 bytes');
  });
});

describe('a name', () => {
  test('that stands for a private address among others is refused in the words of one that does not exist', async () => {
    const failures: unknown[] = [];
    for (const resolve of [
      async () => ['93.184.215.14', '10.0.0.1'],
      async () => ['::ffff:10.0.0.1'],
      failing('ENOTFOUND'),
      async () => [],
    ]) {
      failures.push(await failureFrom(bench.gate({ resolve }).request(asking('https://api.example.com/'))));
    }
    expect(failures[0]).toMatchObject({
      code: 'unreachable',
      message: 'The remote host is unreachable.',
      details: { sent: false },
    });
    expect(failures).toEqual(failures.map(() => failures[0]));
    expect(bench.log.lines.map(({ fields }) => fields['reason'])).toEqual([
      'its name resolves to a private address',
      'its name resolves to the mapped form of a private address',
      'its host name cannot be resolved',
      'its name does not resolve to an address',
    ]);
  });

  test('that cannot be reached is answered after a pause of any length, so that the time reveals nothing of the network', async () => {
    const pauses: number[] = [];
    const clock = {
      now: () => systemClock.now(),
      elapsed: () => systemClock.elapsed(),
      after: systemClock.after.bind(systemClock),
      wait: async (milliseconds: number) => void pauses.push(milliseconds),
    };
    const resolve = async () => ['10.0.0.1'];
    const failures = async (options: Partial<GateOptions>, url: string) =>
      (await failureFrom(bench.gate({ clock, ...options }).request(asking(url)))).code;
    for (let number = 0; number < 8; number += 1) {
      expect(await failures({ resolve }, 'https://api.example.com/')).toBe('unreachable');
    }
    expect(new Set(pauses).size).toBe(8);
    for (const pause of pauses) expect(pause).toBeLessThanOrEqual(50);
    // Of a host the operator has named there is nothing to hide.
    const allow = [{ host: 'api.example.com', port: await freePort() }];
    const url = `http://api.example.com:${allow[0]?.port}/`;
    expect(await failures({ allow, resolve: async () => ['127.0.0.1'] }, url)).toBe('unreachable');
    expect(pauses).toHaveLength(8);
  });

  test('is kept for later unless it is known to be wrong: not to be looked up at the moment is not a reason', async () => {
    const url = 'https://api.example.com/';
    const check = (resolve: () => Promise<readonly string[]>) => bench.gate({ resolve }).check(url, 'callbacks');
    for (const code of ['EAI_AGAIN', 'EAI_FAIL', 'ETIMEOUT']) {
      expect(await check(failing(code)), code).toBeUndefined();
    }
    const never = bench.gate({ resolve: () => new Promise(() => {}), limits: { connect_ms: 100 } });
    expect(await never.check(url, 'callbacks')).toBeUndefined();
    for (const wrong of [failing('ENOTFOUND'), async () => [], async () => ['93.184.216.34', '10.0.0.1']]) {
      expect(await check(wrong)).toMatchObject({
        code: 'unreachable',
        message: 'The remote host is unreachable.',
      });
    }
  });

  test('that is allowed may stand for a private address, but not for a metadata service', async () => {
    const port = await bench.serve((_, response) => response.end('here'));
    const allow = [{ host: 'api.internal', port }];
    const ask = (address: string) =>
      bench.gate({ allow, resolve: async () => [address] }).request(asking(`http://api.internal:${port}/`));
    expect(await textOf(await ask('127.0.0.1'))).toBe('here');
    const metadata = ['169.254.169.254', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'];
    for (const address of [...metadata, '::ffff:127.0.0.1']) {
      const { code, message } = await failureFrom(ask(address));
      expect([code, message]).toEqual(['unreachable', expect.stringContaining('its name resolves to')]);
    }
  });

  test('with an address that does not answer is requested at the next', async () => {
    const port = await bench.serve((request, response) => response.end(request.headers.host));
    const gate = bench.gate({ allow: [{ host: 'a.example', port }], resolve: async () => ['127.9.9.9', '127.0.0.1'] });
    expect(await textOf(await gate.request(asking(`http://a.example:${port}/`)))).toBe(`a.example:${port}`);
  });
});

test('the time a request has is not longer when its first address does not answer', async () => {
  const port = await bench.serve(() => {});
  const gate = bench.gate({ allow: [{ host: 'a.example', port }], resolve: async () => ['127.9.9.9', '127.0.0.1'] });
  const answer = gate.request(asking(`http://a.example:${port}/`, { timeoutMs: 200 }));
  expect(await failureFrom(answer)).toMatchObject({ code: 'timeout', details: { sent: true } });
});

describe('a URL', () => {
  test.each([
    ['ftp://api.example.com/', 'only https', 'by https'],
    ['file:///etc/passwd', 'only https', 'by https'],
    ['http://api.example.com/', 'plain http', 'add api.example.com:80 to gate.allow'],
    ['http://api.example.com:8080/', 'plain http', 'add api.example.com:8080 to gate.allow'],
    ['https://ada:secret@api.example.com/', 'user name or password', 'credential in a header'],
    ['https://secret@api.example.com/', 'user name or password', 'credential in a header'],
    ['https://api.example.com:22/', 'port 22', 'add api.example.com:22 to gate.allow'],
    ['https://api.example.com:25/', 'port 25', 'api.example.com:25 '],
    ['https://api.example.com:0/', 'port 0', 'the port of a web server'],
    ['https://api.example.com:6667/', 'port 6667', 'api.example.com:6667 '],
    ['https://api.example.com./', 'ends with a dot', 'without the dot'],
    ['https://metadata.goog/', 'metadata', 'public host'],
    ['https://localhost/', 'single label', 'add localhost to gate.allow'],
    ['http://0x7f.1:8080/', 'a loopback address', 'add 127.0.0.1:8080 to gate.allow'],
    ['https://[::1]/', 'a loopback address', 'add [::1] to gate.allow'],
  ])('%s is refused, and what would help is named', async (url, why, help) => {
    const resolve = () => Promise.reject(new Error('no lookup is allowed'));
    const failure = await failureFrom(bench.gate({ resolve }).request(asking(url)));
    expect(failure).toMatchObject({ code: 'forbidden', message: expect.stringContaining(why) });
    expect(failure.details['suggestions']).toEqual([expect.stringContaining(help)]);
    expect(JSON.stringify(failure)).not.toContain('secret');
  });
});

describe('headers', () => {
  test.each([
    { Host: 'x' },
    { 'content-length': '1' },
    { 'Transfer-Encoding': 'chunked' },
    { Connection: 'close' },
    { Cookie: 'a=b' },
    { 'Proxy-Authorization': 'x' },
    { TE: 'trailers' },
    { Trailer: 'x' },
    { 'X-Forwarded-For': '1.1.1.1' },
    { Upgrade: 'h2c' },
    { Expect: '100-continue' },
    { 'x-a': 'b\r\nx-c: d' },
    { 'x-a': 'b\0' },
    { 'x-a': 'b\n' },
    { 'x a': 'b' },
    { 'x-a:': 'b' },
    { '': 'b' },
    { 'x-a': '1', 'X-A': '2' },
    { 'x-a': 'x'.repeat(17_000) },
  ])('that are not the caller\u2019s to say are refused: %j', async (headers) => {
    let requests = 0;
    const port = await bench.serve((_, response) => {
      requests += 1;
      response.end();
    });
    const failure = await failureFrom(bench.open().request(asking(`http://127.0.0.1:${port}/`, { headers })));
    expect([failure.code, requests]).toEqual(['invalid_message', 0]);
  });
});

describe('a hostile answer', () => {
  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('that unpacks to a thousand times its size is given up: %s', async (coding, pack) => {
    const bomb = pack(Buffer.alloc(16 * 1024 * 1024));
    const port = await bench.serve((_, response) => response.setHeader('content-encoding', coding).end(bomb));
    const ask = (maxBytes: number) =>
      failureFrom(bench.open().request(asking(`http://127.0.0.1:${port}/`, { maxBytes })));
    expect((await ask(5 * 1024 * 1024)).message).toMatch(/larger than 5242880 bytes|100 times/);
    expect((await ask(1024 ** 3)).message).toContain('more than 100 times its size');
  });

  test('without an end is ended by the deadline, whether it trickles or is silent', async () => {
    const closed: string[] = [];
    const port = await bench.serve((request, response) => {
      const timer = request.url === '/trickle' ? setInterval(() => response.write('x'), 5) : undefined;
      response.on('close', () => {
        closed.push(request.url ?? '');
        clearInterval(timer);
      });
    });
    for (const path of ['/trickle', '/silent']) {
      const answer = bench.open().request(asking(`http://127.0.0.1:${port}${path}`, { timeoutMs: 150 }));
      expect(await failureFrom(answer)).toMatchObject({ code: 'timeout', details: { sent: true } });
    }
    await expect.poll(() => closed).toEqual(['/trickle', '/silent']);
  });

  test.each([
    ['headers without end', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(5000)}\r\n`, 'headers are too long'],
    ['interim responses without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100), 'too many interim responses'],
    [
      'a wrong length',
      'HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\nabc',
      'its response was incomplete: its answer does not have the announced length',
    ],
    ['no HTTP', 'SSH-2.0-OpenSSH_9\r\n', 'does not speak HTTP'],
    [
      'a coding of its own',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip, gzip\r\ncontent-length: 1\r\n\r\nx',
      'gzip, gzip',
    ],
  ])('with %s is a failure', async (_, bytes, why) => {
    const port = await bench.serveTcp((socket) => {
      socket.on('error', () => {});
      socket.end(bytes);
    });
    const failure = await failureFrom(bench.open().request(asking(`http://127.0.0.1:${port}/`)));
    expect(failure).toMatchObject({ code: 'agent_failed', message: expect.stringContaining(why) });
  });

  test('in a coding we do not know has a status all the same, and its bytes are not taken for its text', async () => {
    const closed: string[] = [];
    const port = await bench.serve((request, response) => {
      request.socket.once('close', () => closed.push(request.url ?? ''));
      response.writeHead(request.url === '/gone' ? 410 : 200, { 'content-encoding': 'zstd' }).write('(/');
    });
    const gate = bench.open();
    const [gone, whole] = await Promise.all(
      ['/gone', '/whole'].map((path) => gate.request(asking(`http://127.0.0.1:${port}${path}`))),
    );
    expect([gone?.status, whole?.status]).toEqual([410, 200]);
    for (const failure of [failureFrom(Promise.resolve(gone)), failureFrom(wholeBody(whole as InboundAnswer))]) {
      expect(await failure).toMatchObject({
        code: 'agent_failed',
        retryable: false,
        message: expect.stringContaining('zstd'),
      });
    }
    await expect.poll(() => closed.toSorted()).toEqual(['/gone', '/whole']);
  });

  test('without a body can be read whatever its coding', async () => {
    const port = await bench.serve((_, response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end());
    expect(await textOf(await bench.open().request(asking(`http://127.0.0.1:${port}/`)))).toBe('');
  });

  test('is read no faster than its reader asks', async () => {
    let written = 0;
    const port = await bench.serve((_, response) => {
      const write = () => {
        while (written < 50_000_000 && response.write(Buffer.alloc(64 * 1024))) written += 64 * 1024;
        if (written < 50_000_000) response.once('drain', write);
      };
      write();
    });
    const answer = await bench.open().request(asking(`http://127.0.0.1:${port}/`, { maxBytes: 100_000_000 }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(written).toBeLessThan(20_000_000);
    for await (const _ of answer.body) break;
  });
});

test('a request whose caller has left ends with the reason the caller gave', async () => {
  const port = await bench.serve(() => {});
  const controller = new AbortController();
  const answer = bench.open().request(asking(`http://127.0.0.1:${port}/`, { signal: controller.signal }));
  const reason = new Error('left');
  setTimeout(() => controller.abort(reason), 20);
  await expect(answer).rejects.toBe(reason);
});

/** A failed lookup, as Node reports it. */
function failing(code: string): () => Promise<never> {
  return () => Promise.reject(Object.assign(new Error('the lookup failed'), { code }));
}

test('a host whose name was never looked up is not to blame, and the error says so', async () => {
  const hanging = new Set<string>();
  const names = ['a.example', 'b.example', 'c.example'];
  const gate = bench.gate({
    allow: names.map((host) => ({ host, port: 443 })),
    resolve: (name) => {
      hanging.add(name);
      return new Promise(() => {});
    },
  });
  const requests = names.map((name) => failureFrom(gate.request(asking(`https://${name}/`, { timeoutMs: 50 }))));
  expect(await Promise.all(requests)).toMatchObject([
    { code: 'timeout', details: { sent: false } },
    { code: 'timeout', details: { sent: false } },
    { code: 'unreachable', retryable: true, details: { sent: false, looked_up: false } },
  ]);
  expect([...hanging]).toEqual(['a.example', 'b.example']);
  // A cancelled lookup ends with the reason of its caller.
  const reason = new Error('not any more');
  const unwanted = gate.request(asking('https://c.example/', { signal: AbortSignal.abort(reason) }));
  await expect(unwanted).rejects.toBe(reason);
});
