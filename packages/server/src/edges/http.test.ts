import { refuse } from '@dragoman/core';
import { failure } from '@dragoman/protocols';
import { describe, expect, test } from 'vitest';
import { TestClock } from '../../../core/test-support/test-clock.ts';
import type { CountedCall } from '../http/count.ts';
import type { InboundRequest, Route } from '../http/route.ts';
import { exchangeRaw, head, RawPeer, route, startEdge } from './harness.contract.ts';

const JSON_BODY = { contentTypes: ['application/json'], maxBytes: 1024 };
const CLOSE = 'Connection: close';

/** A route that returns its caller and its input. */
function echo(parts: Partial<Route> = {}): Route {
  return route({
    method: 'POST',
    path: '/echo/:id',
    body: JSON_BODY,
    handle: (request: InboundRequest) => ({
      status: 200,
      json: {
        path: request.path,
        params: { ...request.params },
        query: Object.fromEntries(request.query),
        body: Buffer.from(request.body).toString(),
        principal: request.principal?.id ?? null,
        address: request.address,
      },
    }),
    ...parts,
  });
}

describe('a request that is all right', () => {
  test('reaches its route with parameters, query, body and caller', async () => {
    const { url } = await startEdge({ routes: [echo({ access: 'agent' })] });
    const response = await fetch(`${url}/echo/a%2Fb?x=1&y=%20`, {
      method: 'POST',
      headers: { authorization: 'Bearer ada', 'content-type': 'application/json; charset=utf-8' },
      body: '{"a":1}',
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      path: '/echo/a%2Fb',
      params: { id: 'a/b' },
      query: { x: '1', y: ' ' },
      body: '{"a":1}',
      principal: 'ada',
      address: '127.0.0.1',
    });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'content-length': expect.any(String),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  });

  test('may be anonymous on an open route, and its answer may be cached', async () => {
    const { url } = await startEdge({ routes: [route({ path: '/' })] });
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBeNull();
  });

  test('may be HEAD where there is GET: the same headers, no body', async () => {
    const { url } = await startEdge({ routes: [route({ path: '/' })] });
    const response = await fetch(url, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe('11');
    expect(await response.text()).toBe('');
  });

  test.each(['a', 'é', '日'])('may be answered at length: %s', async (letter) => {
    const text = letter.repeat(20_000);
    const { url, port, host } = await startEdge({
      routes: [route({ path: '/', handle: () => ({ status: 200, text }) })],
    });
    const response = await fetch(url);
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect(await response.text()).toBe(text);
    expect(await (await fetch(url, { method: 'HEAD' })).text()).toBe('');
    const both = await exchangeRaw(port, head({ host }) + head({ host, fields: [CLOSE] }));
    expect(both.split(Buffer.from(text).toString('latin1'))).toEqual([
      expect.stringMatching(/^HTTP\/1.1 200 /),
      expect.stringMatching(/^HTTP\/1.1 200 /),
      '',
    ]);
  });

  test('may be sent ahead on a connection: answers come in order, one request runs at a time', async () => {
    const running: string[] = [];
    const slow = route({
      path: '/:name',
      handle: async ({ params }) => {
        running.push(`+${params.name}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
        running.push(`-${params.name}`);
        return { status: 200, text: `<${params.name}>` };
      },
    });
    const { port, host } = await startEdge({ routes: [slow] });
    const requests = ['a', 'b'].map((name) => head({ path: `/${name}`, host })).join('');
    const received = await exchangeRaw(port, requests + head({ path: '/c', host, fields: [CLOSE] }));
    expect(received.match(/<\w>/g)).toEqual(['<a>', '<b>', '<c>']);
    expect(running).toEqual(['+a', '-a', '+b', '-b', '+c', '-c']);
  });

  test('gets 100 Continue before its body when it waits for it, and is refused without sending it otherwise', async () => {
    const { port, host } = await startEdge({ routes: [echo()] });
    const fields = ['Content-Type: application/json', 'Content-Length: 2', 'Expect: 100-continue', CLOSE];
    const peer = await RawPeer.connect(port);
    peer.send(head({ method: 'POST', path: '/echo/1', host, fields }));
    await peer.receives('100 Continue');
    peer.send('{}');
    await peer.receives('HTTP/1.1 200 OK');

    const large = ['Content-Type: application/json', 'Content-Length: 99999', 'Expect: 100-continue'];
    const refused = await exchangeRaw(port, head({ method: 'POST', path: '/echo/1', host, fields: large }));
    expect(refused).toMatch(/^HTTP\/1.1 413 /);
    expect(refused).not.toContain('100 Continue');
    const other = await exchangeRaw(port, head({ path: '/', host, fields: ['Expect: tea'] }));
    expect(other).toMatch(/^HTTP\/1.1 417 /);
  });

  test('with a FIN right behind it is answered', async () => {
    const slow = route({ path: '/', handle: () => new Promise((resolve) => setTimeout(resolve, 50, { status: 204 })) });
    const { port, host } = await startEdge({ routes: [slow] });
    const peer = await RawPeer.connect(port);
    peer.socket.end(head({ host }));
    await peer.receives('HTTP/1.1 204 No Content');
  });
});

describe('access', () => {
  test.each([
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n', 400],
    ['a Host that was made to point here', 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n', 403],
    ['a Host that only begins like ours', 'GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n', 403],
    ['a Host with a user', 'GET / HTTP/1.1\r\nHost: 127.0.0.1@evil.example\r\n\r\n', 403],
    ['another origin', 'GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nOrigin: http://evil.example\r\n\r\n', 403],
    [
      'the same host on another port as origin',
      'GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nOrigin: http://127.0.0.1:2\r\n\r\n',
      403,
    ],
    ['the origin of a sandboxed page', 'GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nOrigin: null\r\n\r\n', 403],
    ['its own origin', 'GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nOrigin: http://127.0.0.1:1\r\n\r\n', 200],
    [
      'an origin the operator allows',
      'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://console.example\r\n\r\n',
      200,
    ],
  ])('%s', async (_name, bytes, status) => {
    const { port } = await startEdge({ routes: [route({ path: '/' })], origins: ['https://console.example'] });
    const received = await exchangeRaw(port, bytes.replace('\r\n\r\n', `\r\n${CLOSE}\r\n\r\n`));
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  test.each([
    ['agent', {}, 401],
    ['agent', { 'x-api-key': 'ada' }, 200],
    ['agent', { authorization: 'bearer ada' }, 200],
    ['agent', { authorization: 'Bearer ada', 'x-api-key': 'ada' }, 200],
    ['agent', { authorization: 'Bearer ada', 'x-api-key': 'admin' }, 401],
    ['agent', { authorization: 'Basic YWRh' }, 401],
    ['agent', { authorization: 'Bearer' }, 401],
    ['agent', { authorization: 'Bearer ada, Bearer ada' }, 401],
    ['agent', { 'x-api-key': 'nobody' }, 401],
    ['agent', { 'x-api-key': 'admin' }, 403],
    ['admin', { 'x-api-key': 'ada' }, 403],
    ['admin', { 'x-api-key': 'admin' }, 200],
    ['open', { 'x-api-key': 'ada' }, 200],
    ['open', { 'x-api-key': 'nobody' }, 401],
    ['public', { 'x-api-key': 'nobody' }, 200],
    ['public', { authorization: 'Basic YWRh' }, 200],
  ] as const)('%s route, %j: %i', async (access, headers, status) => {
    const { url } = await startEdge({ routes: [route({ path: '/', access })] });
    const response = await fetch(url, { headers });
    expect(response.status).toBe(status);
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
  });

  test('the key check gets the address of the caller', async () => {
    const received: [string, string][] = [];
    const { url } = await startEdge({
      routes: [route({ path: '/', access: 'agent' })],
      proxies: ['127.0.0.1'],
      authenticate: (key, address) => {
        received.push([key, address]);
        return Promise.resolve(failure('rate_limited', { retry_after: 2.5 }));
      },
    });
    const headers = { 'x-forwarded-for': '2001:db8:1:2:3:4:5:6', 'x-api-key': 'x' };
    const response = await fetch(url, { headers });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('3');
    expect(received).toEqual([['x', '2001:db8:1:2:3:4:5:6']]);
  });
});

describe('a request that finds no route', () => {
  test('gets 404 with a fixed text, whatever the path', async () => {
    const { url } = await startEdge({ routes: [route({ path: '/here' })] });
    const bodies = await Promise.all(
      ['/there', '/here/', '/HERE', '//here', '/%', '/%ff', `/${'a'.repeat(2000)}`].map(async (path) => {
        const response = await fetch(url + path);
        expect(response.status).toBe(404);
        return response.text();
      }),
    );
    expect(new Set(bodies).size).toBe(1);
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ code: 'not_found', status: 404 });
  });

  test('gets 405 with what is allowed when only the method is wrong', async () => {
    const { url } = await startEdge({ routes: [route({ path: '/a' }), echo({ path: '/a', method: 'PUT' })] });
    const response = await fetch(`${url}/a`, { method: 'DELETE' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, PUT');
    expect((await fetch(`${url}/a`, { method: 'OPTIONS' })).status).toBe(405);
  });
});

describe('content types', () => {
  test.each([
    ['application/json', 200],
    ['application/json;charset=UTF-8', 200],
    ['APPLICATION/JSON', 200],
    ['application/json; charset="utf-8"', 200],
    ['application/json; profile=x', 200],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=iso-8859-1', 415],
    ['application/json, text/plain', 415],
    ['application/json; a=b, text/plain', 415],
    ['application/json5', 415],
    ['application/jsonx', 415],
    ['application/x-json', 415],
    ['application/ld+json', 415],
    ['application/vnd.api+json', 415],
    ['application/problem+json', 415],
    ['application/x-ndjson', 415],
    ['application/jsonl', 415],
    ['application/xml', 415],
    ['application/octet-stream', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/cbor', 415],
    ['application/msgpack', 415],
    ['multipart/form-data; boundary=x', 415],
    ['multipart/mixed; boundary=x', 415],
    ['text/json', 415],
    ['text/plain', 415],
    ['text/html', 415],
    ['text/x-json', 415],
    ['*/*', 415],
    ['json', 415],
    ['', 415],
    [';application/json', 415],
  ])('%s: %i', async (type, status) => {
    const { port, host } = await startEdge({ routes: [echo()] });
    const fields = [`Content-Type: ${type}`, 'Content-Length: 2', CLOSE];
    const received = await exchangeRaw(port, `${head({ method: 'POST', path: '/echo/1', host, fields })}{}`);
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  test('a body without a type, with an encoding, or on a route that takes none is refused', async () => {
    const { port, host } = await startEdge({ routes: [echo(), route({ path: '/' })] });
    const post = (path: string, ...fields: string[]) =>
      exchangeRaw(port, `${head({ method: 'POST', path, host, fields: [...fields, 'Content-Length: 2', CLOSE] })}{}`);
    expect(await post('/echo/1')).toMatch(/^HTTP\/1.1 415 /);
    expect(await post('/echo/1', 'Content-Type: application/json', 'Content-Encoding: gzip')).toMatch(
      /^HTTP\/1.1 415 /,
    );
    const get = head({ host, fields: ['Content-Type: application/json', 'Content-Length: 2', CLOSE] });
    expect(await exchangeRaw(port, `${get}{}`)).toMatch(/^HTTP\/1.1 415 /);
  });

  test('no body needs no type', async () => {
    const { url } = await startEdge({ routes: [echo()] });
    expect((await fetch(`${url}/echo/1`, { method: 'POST' })).status).toBe(200);
  });
});

describe('counting', () => {
  const clock = new TestClock();
  const now = clock.now().getTime() / 1000;
  const limits = [
    { name: 'minute', limit: 60, remaining: 3, windowSeconds: 60, resetAt: now + 20 },
    { name: 'hour', limit: 1000, remaining: 900, windowSeconds: 3600, resetAt: now + 1999.5 },
  ];

  test('the remaining quota is in both kinds of headers', async () => {
    const calls: CountedCall[] = [];
    const counting = route({ path: '/', access: 'agent', counts: true });
    const { url } = await startEdge({
      clock,
      routes: [counting, route({ path: '/free', access: 'agent' })],
      count: (call) => {
        calls.push(call);
        return { limits };
      },
    });
    const headers = { 'x-api-key': 'ada' };
    const response = await fetch(url, { headers });
    expect(response.headers.get('x-ratelimit-limit')).toBe('60');
    expect(response.headers.get('x-ratelimit-remaining')).toBe('3');
    expect(response.headers.get('x-ratelimit-reset')).toBe(String(now + 20));
    expect(response.headers.get('ratelimit')).toBe('"minute";r=3;t=20, "hour";r=900;t=2000');
    expect(response.headers.get('ratelimit-policy')).toBe('"minute";q=60;w=60, "hour";q=1000;w=3600');
    expect((await fetch(`${url}/free`, { headers })).headers.get('ratelimit')).toBeNull();
    expect(calls).toMatchObject([{ principal: { id: 'ada' }, route: counting, address: '127.0.0.1' }]);
  });

  test('a call above the limit is not handled, and its place is released', async () => {
    const events: string[] = [];
    const { url } = await startEdge({
      routes: [
        route({
          path: '/',
          counts: true,
          handle: () => {
            events.push('handled');
            return { status: 200 };
          },
        }),
      ],
      count: () => {
        const release = () => events.push('released');
        return events.length === 0
          ? { limits, release }
          : { limits, release, failure: failure('rate_limited', { retry_after: 7 }) };
      },
    });
    await fetch(url);
    expect(events).toEqual(['handled', 'released']);
    const response = await fetch(url);
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(response.headers.get('x-ratelimit-limit')).toBe('60');
    expect(events).toEqual(['handled', 'released', 'released']);
  });
});

describe('failures', () => {
  test('a returned failure is worded as a problem, or as the route words it', async () => {
    const fails = () => failure('busy', { retry_after: 2 });
    const { url } = await startEdge({
      routes: [
        route({ path: '/plain', handle: fails }),
        route({ path: '/own', handle: fails, wordFailure: ({ code }) => ({ status: 503, json: { error: code } }) }),
      ],
    });
    const plain = await fetch(`${url}/plain`);
    expect(plain.headers.get('content-type')).toBe('application/problem+json');
    expect(await plain.json()).toMatchObject({ code: 'busy', status: 503, retry_after: 2 });
    const own = await fetch(`${url}/own`);
    expect(await own.json()).toEqual({ error: 'busy' });
    for (const response of [plain, own]) expect(response.headers.get('retry-after')).toBe('2');
  });

  test('a failure that is thrown is worded like one that is returned, and is not news for the log', async () => {
    const { url, log } = await startEdge({ routes: [route({ path: '/', handle: () => refuse('conflict') })] });
    const response = await fetch(url);
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: 'conflict' });
    expect(log.lines).toEqual([]);
  });

  test('an exception is a 500 with a number; only the log has the details', async () => {
    const { url, log } = await startEdge({
      routes: [
        route({
          path: '/:id',
          handle: () => {
            throw new Error('secret path /etc/shadow');
          },
        }),
      ],
    });
    const response = await fetch(`${url}/1?key=secret`);
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).not.toMatch(/secret|shadow|\.ts|at /);
    const { instance } = JSON.parse(text);
    expect(instance).toMatch(/^urn:uuid:/);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { instance, route: '/:id', err: expect.any(Error) } }]);
  });

  test('an answer that cannot be written is a 500, and a broken wording falls back to the plain one', async () => {
    const { url } = await startEdge({
      routes: [
        route({ path: '/header', handle: () => ({ status: 200, headers: { 'x-bad': 'a\r\nb: c' }, text: '' }) }),
        route({
          path: '/wording',
          handle: () => failure('busy'),
          wordFailure: () => {
            throw new Error('no words');
          },
        }),
      ],
    });
    expect((await fetch(`${url}/header`)).status).toBe(500);
    expect((await fetch(`${url}/wording`)).status).toBe(500);
  });
});

test('a taken port is reported', async () => {
  const { port } = await startEdge({});
  const other = startEdge({});
  await expect((await other).edge.listen({ host: '127.0.0.1', port })).rejects.toThrow();
});
