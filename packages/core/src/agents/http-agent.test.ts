import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asking, eventually, failureIn, resultIn, TestContext } from './call.contract.ts';
import { httpAgent } from './http-agent.ts';

const COMPLETE = { request_id: 'r1', response_kind: 'e2a.complete', body: { result: 'done' } };
const servers: { close(): void; closeAllConnections?(): void }[] = [];
let context: TestContext;

beforeEach(() => {
  context = new TestContext();
});
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections?.();
    server.close();
  }
});

describe('an answer of one piece', () => {
  test('is one JSON frame', async () => {
    const agent = await serving(json(COMPLETE));
    expect(resultIn(await context.ask(agent, 'x'))).toBe('done');
  });

  test('may be from before E2A', async () => {
    const agent = await serving(json({ request_id: 'r1', channel_id: 'web', ok: false, payload: { error: 'no' } }));
    expect(await context.ask(agent, 'x')).toMatchObject([
      { part: 'frame', frame: { response_kind: 'e2a.error', is_final: true, body: { message: 'no' } } },
    ]);
  });

  test('must be the end', async () => {
    const agent = await serving(json({ response_kind: 'e2a.chunk', body: { delta_kind: 'text', delta: 'x' } }));
    const parts = await context.ask(agent, 'x');
    expect(parts).toHaveLength(2);
    expect(failureIn(parts)?.message).toBe('The agent ended without an answer.');
  });

  test('must not be empty', async () => {
    const agent = await serving(json(''));
    expect(failureIn(await context.ask(agent, 'x'))?.message).toBe('The agent ended without an answer.');
  });

  test('is requested with the whole envelope, and without compression', async () => {
    const seen: unknown[] = [];
    const agent = await serving(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      seen.push(request.method, request.headers, JSON.parse(body));
      response.setHeader('content-type', 'application/json').end(JSON.stringify(COMPLETE));
    });
    await context.ask(agent, 'häagen');
    expect(seen).toMatchObject([
      'POST',
      {
        accept: 'application/x-ndjson, text/event-stream;q=0.9, application/json;q=0.8',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
      },
      { request_id: 'r1', protocol_version: '1.0', params: { content: 'häagen' } },
    ]);
  });
});

describe('an agent fails when it answers', () => {
  test.each([301, 302, 303, 307, 308])('with a redirect: %i', async (status) => {
    let requests = 0;
    const agent = await serving((_, response) => {
      requests++;
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
    const failure = failureIn(await context.ask(agent, 'x'));
    expect(failure).toMatchObject({ code: 'agent_failed', retryable: false, details: { status } });
    expect(failure?.message).toContain('redirect');
    expect(requests).toBe(1);
  });

  test.each([
    [500, true],
    [503, true],
    [429, true],
    [404, false],
    [401, false],
  ])('with status %i, which may be repeated: %s', async (status, retryable) => {
    const agent = await serving((_, response) => {
      response.writeHead(status, { 'retry-after': '7' }).end(`because Bearer abcdefghijkl ${'x'.repeat(5000)}`);
    });
    const failure = failureIn(await context.ask(agent, 'x'));
    expect(failure).toMatchObject({ code: 'agent_failed', retryable, details: { status, retry_after: 7 } });
    const excerpt = String(failure?.details['excerpt']);
    expect(excerpt.startsWith('because Bearer [redacted] xxx')).toBe(true);
    expect(excerpt.length).toBeLessThanOrEqual(1024);
  });

  test('with a date in Retry-After, which is reported in seconds', async () => {
    const until = new Date(context.clock.now().getTime() + 90_000).toUTCString();
    const agent = await serving((_, response) => response.writeHead(503, { 'retry-after': until }).end());
    const { retry_after: seconds } = failureIn(await context.ask(agent, 'x'))?.details ?? {};
    expect(seconds).toBe(Math.ceil((Date.parse(until) - context.clock.now().getTime()) / 1000));
  });

  test('with a body that is not read, and the connection is closed', async () => {
    const closed: string[] = [];
    for (const head of [{ status: 302 }, { status: 500 }, { status: 200, type: 'text/html' }]) {
      const agent = await serving((_, response) => {
        response.on('close', () => closed.push(`${head.status}`));
        response.writeHead(head.status, { 'content-type': head.type ?? 'application/json' }).write('x'.repeat(2000));
      });
      expect(failureIn(await context.ask(agent, 'x'))?.code).toBe('agent_failed');
    }
    await eventually(() => closed.toSorted()).toEqual(['200', '302', '500']);
  });

  test('in a content type that holds no frames', async () => {
    const agent = await serving((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'));
    expect(failureIn(await context.ask(agent, 'x'))?.message).toContain('text/html');
  });

  test('compressed, but not really', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const agent = await serving((_, response) => response.writeHead(200, headers).end('x'));
    expect(failureIn(await context.ask(agent, 'x'))?.message).toContain('its compression is invalid');
  });

  test.each([200, 500])('with an unknown compression and status %i', async (status) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'zstd' };
    const agent = await serving((_, response) => response.writeHead(status, headers).end('{}'));
    expect(failureIn(await context.ask(agent, 'x'))?.message).toContain('its content coding "zstd" is unknown');
  });

  test('with bytes that are not HTTP', async () => {
    const port = await listening(createTcpServer((socket: Socket) => socket.end('hello\r\n\r\n')));
    const agent = httpAgent({
      id: 'agent',
      url: new URL(`http://127.0.0.1:${port}`),
      clock: context.clock,
      ids: context.ids,
      gate: open(port),
    });
    expect(failureIn(await context.ask(agent, 'x'))?.message).toContain('it does not speak HTTP');
  });

  test('and is cut off in the middle, which is not reported as unreachable', async () => {
    const agent = await serving((_, response) => {
      response.setHeader('content-type', 'text/event-stream').write('data: {"response');
      setTimeout(() => response.destroy(), 20);
    });
    const message = 'The answer of the agent was cut off: it closed the connection unexpectedly.';
    expect(failureIn(await context.ask(agent, 'x'))).toMatchObject({ code: 'agent_failed', retryable: true, message });
  });

  test('with headers without end', async () => {
    const agent = await serving((_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end());
    expect(failureIn(await context.ask(agent, 'x'))?.message).toContain('its headers are too long');
  });
});

describe('an agent that cannot be reached', () => {
  test('because nothing listens is reported, and may be tried again', async () => {
    const server = createServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    const agent = httpAgent({
      id: 'agent',
      url: new URL(`http://127.0.0.1:${port}`),
      clock: context.clock,
      ids: context.ids,
      gate: open(port),
    });
    expect(failureIn(await context.ask(agent, 'x'))).toMatchObject({
      code: 'agent_failed',
      retryable: true,
      message: 'The agent could not be reached: connection refused.',
    });
  });

  test('because it has no TLS is reported', async () => {
    const port = await listening(createServer());
    const agent = httpAgent({
      id: 'agent',
      url: new URL(`https://127.0.0.1:${port}`),
      clock: context.clock,
      ids: context.ids,
      gate: open(port),
    });
    expect(failureIn(await context.ask(agent, 'x'))?.message).toContain('TLS');
  });
});

describe('an agent that is silent', () => {
  test('fails after the idle time, before its answer or in the middle of it', async () => {
    for (const begin of ['', `${JSON.stringify({ ...COMPLETE, response_kind: 'e2a.chunk', body: DELTA })}\n`]) {
      const agent = await serving((_, response) => {
        if (begin !== '') response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write(begin);
      });
      const controller = new AbortController();
      const parts = agent.answer(asking('x'), context.call(controller.signal))[Symbol.asyncIterator]();
      if (begin !== '') expect((await parts.next()).value).toMatchObject({ part: 'frame' });
      let isOver = false;
      const next = parts.next().finally(() => {
        isOver = true;
      });
      while (!isOver) {
        context.clock.pass(60_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect((await next).value).toMatchObject({ part: 'failure', failure: { code: 'timeout' } });
      expect((await parts.next()).done).toBe(true);
      expect(context.clock.waiting).toBe(0);
    }
  });

  test('has time while a person answers its question, and as long as usual afterwards', async () => {
    const question = { ...COMPLETE, response_kind: 'plan.approval_required', body: { plan_content: 'Sell it all.' } };
    const agent = await serving((_, response) => {
      // The second request is the answer to the question.
      if (context.questions.length > 0) return void response.end();
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write(`${JSON.stringify(question)}\n`);
    });
    let reply = () => {};
    context.person = () =>
      new Promise((resolve) => {
        reply = () => resolve({ action: 'accept' });
      });
    const answer = context.ask(agent, 'x');
    let isOver = false;
    void answer.finally(() => {
      isOver = true;
    });
    await eventually(() => context.questions).toHaveLength(1);
    const pass = async () => {
      context.clock.pass(59_000);
      await new Promise((resolve) => setImmediate(resolve));
    };
    for (let minute = 0; minute < 10; minute++) await pass();
    expect(isOver).toBe(false);
    reply();
    await new Promise((resolve) => setImmediate(resolve));
    await pass();
    expect(isOver).toBe(false);
    for (let minute = 0; minute < 10 && !isOver; minute++) await pass();
    expect(failureIn(await answer)).toMatchObject({ code: 'timeout' });
  });

  test('does not fail because of a slow reader', async () => {
    let finish = () => {};
    const agent = await serving((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write(`${JSON.stringify({ ...COMPLETE, response_kind: 'e2a.chunk', body: DELTA })}\n`);
      finish = () => response.end(`${JSON.stringify(COMPLETE)}\n`);
    });
    const parts = agent.answer(asking('x'), context.call())[Symbol.asyncIterator]();
    await parts.next();
    context.clock.pass(600_000);
    await new Promise((resolve) => setImmediate(resolve));
    finish();
    expect((await parts.next()).value).toMatchObject({ part: 'frame', frame: { body: { result: 'done' } } });
    await parts.return?.();
  });
});

const DELTA = { delta_kind: 'text', delta: 'x' };

function json(value: unknown): RequestListener {
  const text = value === '' ? '' : JSON.stringify(value);
  return (_, response) => response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(text);
}

function open(port: number) {
  return context.gate.allowing([{ host: '127.0.0.1', port }]);
}

async function serving(listener: RequestListener) {
  const url = new URL(`http://127.0.0.1:${await listening(createServer(listener))}/`);
  return httpAgent({
    id: 'agent',
    url,
    clock: context.clock,
    ids: context.ids,
    gate: open(Number(url.port)),
    idleMs: 60_000,
  });
}

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
