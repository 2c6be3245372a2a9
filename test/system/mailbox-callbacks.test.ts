import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { call } from './call.ts';
import { type Behaviour, isSigned, ok, Receiver } from './receiver.ts';
import { agentModule, System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

const authority = new TestAuthority();
const foreignAuthority = new TestAuthority('another authority');
const certificate = authority.issue(['IP:127.0.0.1']);

/** Every kind of receiver, each at its own port. */
const receivers = {
  good: await Receiver.start(certificate),
  slow: await Receiver.start(certificate, (response) => setTimeout(() => ok(response), 100)),
  hanging: await Receiver.start(certificate, () => {}),
  redirecting: await Receiver.start(certificate, (response) => {
    response.writeHead(302, { location: receivers.good.url('/redirected') }).end();
  }),
  gone: await Receiver.start(certificate, status(410)),
  busy: await Receiver.start(certificate, (response, number) => {
    if (number === 0) response.writeHead(429, { 'retry-after': '1' }).end();
    else ok(response);
  }),
  refusing: await Receiver.start(certificate, status(400)),
  failing: await Receiver.start(certificate, (response, number) => response.writeHead(number < 4 ? 500 : 204).end()),
  always503: await Receiver.start(certificate, status(503)),
  // It has accepted the callback when the connection breaks: our side cannot know that.
  cutting: await Receiver.start(certificate, (response, number) => (number < 2 ? response.destroy() : ok(response))),
  giant: await Receiver.start(certificate, (response) => {
    response.writeHead(200);
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', pour);
    pour();
  }),
  dribbling: await Receiver.start(certificate, (response) => {
    response.writeHead(202).write('.');
  }),
  foreign: await Receiver.start(foreignAuthority.issue(['IP:127.0.0.1'])),
  misnamed: await Receiver.start(authority.issue(['DNS:elsewhere.example'])),
};

const system = await System.start({
  config: {
    default_agent: 'letters',
    agents: { letters: { driver: 'module', module: agentModule('letters'), max_parallel: 64 } },
    mailbox: {
      anonymous: ['letters'],
      requests_per_minute: 100_000,
      max_concurrent: 100,
      callbacks: { timeout_ms: 1000, backoff_ms: 20, anonymous_per_host_per_minute: 3 },
    },
    gate: { callbacks: Object.values(receivers).map(({ hostPort }) => hostPort), ca: [authority.path] },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  for (const receiver of Object.values(receivers)) await receiver[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
  foreignAuthority[Symbol.dispose]();
});

const mine = await system.caller('my-agent');
const other = await system.caller('other-agent');
const { webhook_secret: secret } = mine as unknown as { webhook_secret: string };

describe('a receiver that', () => {
  test.each([
    ['answers slowly', receivers.slow, 1],
    ['pours an endless body after its 200', receivers.giant, 1],
    ['answers 202 and never ends its body', receivers.dribbling, 1],
    ['takes it and is cut off, twice', receivers.cutting, 3],
  ])('%s has it, and gets no retry', async (_, receiver, tries) => {
    const id = await send(receiver.url());
    expect(await ended(id)).toMatchObject({ state: 'delivered', attempts: tries });
    expect(receiver.received.length).toBe(tries);
    expectSameCallback(receiver);
  });

  test('hangs is tried four times, and then it is a dead letter with the reason of each', async () => {
    const id = await send(receivers.hanging.url());
    const { state, failures } = await ended(id);
    expect(state).toBe('dead');
    expect(failures.map(({ reason }) => reason)).toEqual(Array(4).fill('The response did not arrive within 1000 ms.'));
    expect(receivers.hanging.received.length).toBe(4);
    expectSameCallback(receivers.hanging);
  });

  test('redirects is not followed', async () => {
    const id = await send(receivers.redirecting.url());
    const { state, failures } = await ended(id);
    expect([state, failures.at(-1)]).toMatchObject([
      'dead',
      { status: 302, reason: expect.stringContaining('redirect') },
    ]);
    expect(receivers.good.received.filter(({ path }) => path === '/redirected')).toEqual([]);
  });

  test('answers 429 with Retry-After is tried again, but not before that', async () => {
    const id = await send(receivers.busy.url());
    expect(await ended(id)).toMatchObject({ state: 'delivered', attempts: 2 });
    const [first, second] = receivers.busy.received;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
    // The same message, freshly signed.
    expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
    expectSameCallback(receivers.busy);
  });

  test('answers 400 gets no retry', async () => {
    const id = await send(receivers.refusing.url());
    expect(await ended(id)).toMatchObject({
      state: 'dead',
      attempts: 1,
      failures: [{ status: 400, reason: 'HTTP 400' }],
    });
    expect(receivers.refusing.received.length).toBe(1);
  });

  test('answers 410 receives nothing more from that sender, and the next message is refused with that reason', async () => {
    const url = receivers.gone.url();
    const id = await send(url);
    expect(await ended(id)).toMatchObject({ state: 'dead', attempts: 1, failures: [{ status: 410 }] });
    const [status, body] = await post(message(url), mine.api_key);
    expect([status, body['errors']]).toEqual([
      400,
      ['callbackUrl is disabled: it has answered 410 Gone to this sender before'],
    ]);
    // However it is spelled, it is the same receiver.
    const respelled = url.replace('https://', 'HTTPS://').replace('/in', '/by/../in');
    expect((await post(message(respelled), mine.api_key))[0]).toBe(400);
    expect(receivers.gone.received.length).toBe(1);
    // The 410 counts for one sender and one URL: another sender and another URL of the host are served.
    await ended(await send(url, other.api_key));
    await ended(await send(receivers.gone.url('/another')));
    expect(receivers.gone.received.length).toBe(3);
  });

  test.each([
    ['a certificate of an untrusted authority', receivers.foreign],
    ['a certificate of another name', receivers.misnamed],
  ])('shows %s gets not a byte', async (_, receiver) => {
    const id = await send(receiver.url());
    const { state, failures } = await ended(id);
    expect([state, failures.length, receiver.received.length]).toEqual(['dead', 4, 0]);
  });
});

describe('a dead letter', () => {
  test('is tried again at once on request of the operator, with the same id and body', async () => {
    const id = await send(receivers.failing.url());
    const { id: delivery } = await ended(id);
    const answer = await admin(`/admin/v1/outbox/${delivery}/retry`, 'POST');
    expect(answer).toMatchObject([
      200,
      { id: delivery, state: expect.stringMatching(/due|delivered/), failures: Array(4).fill({ status: 500 }) },
    ]);
    expect(await ended(id)).toMatchObject({ state: 'delivered', attempts: 1 });
    expect(receivers.failing.received.length).toBe(5);
    expectSameCallback(receivers.failing);
    expect(await admin(`/admin/v1/outbox/${delivery}/retry`, 'POST')).toMatchObject([409, { code: 'conflict' }]);
    expect(await admin('/admin/v1/outbox/never-was/retry', 'POST')).toMatchObject([404, { code: 'not_found' }]);
  });

  test('that is expired is never sent, even if an administrator asks', async () => {
    const expiresAt = new Date(Date.now() + 600).toISOString();
    const id = await send(receivers.always503.url(), mine.api_key, { expiresAt });
    const { id: delivery, ended_at } = await ended(id);
    expect(Date.parse(String(ended_at))).toBeLessThan(Date.parse(expiresAt) + 1000);
    while (Date.now() <= Date.parse(expiresAt)) await new Promise((resolve) => setTimeout(resolve, 10));
    const sent = receivers.always503.received.length;
    expect(await admin(`/admin/v1/outbox/${delivery}/retry`, 'POST')).toMatchObject([410, { code: 'expired' }]);
    expect(receivers.always503.received.length).toBe(sent);
    expect(receivers.always503.received.filter(({ at }) => at > Date.parse(expiresAt))).toEqual([]);
  });

  test('is listed by its state, and a wrong state is refused', async () => {
    const [, dead] = await admin('/admin/v1/outbox?state=dead&limit=2');
    expect((dead['deliveries'] as JsonObject[]).map(({ state }) => state)).toEqual(['dead', 'dead']);
    expect(await admin('/admin/v1/outbox?state=lost')).toMatchObject([400, { code: 'invalid_message' }]);
  });
});

describe('a callback URL', () => {
  test.each([
    'https://127.0.0.1:1/in',
    'https://localhost/in',
    'https://169.254.169.254/latest',
    'https://[::1]/in',
    'https://10.0.0.1/in',
    'https://2130706433/in',
    'https://printer.local/in',
  ])('that the gate does not let out is refused with the message: %s', async (url) => {
    const [status, body] = await post(message(url), mine.api_key);
    expect([status, body['error']]).toEqual([400, 'Invalid message format']);
    expect(body['errors']).toEqual([
      expect.stringMatching(/^callbackUrl cannot be called: .*; .* ask the operator to add \S+ to gate\.callbacks$/),
    ]);
  });

  test('may be anybody’s, so senders without a key get few to one host, whatever name they give', async () => {
    const statuses: number[] = [];
    const last: JsonObject[] = [];
    for (let number = 0; number < 5; number += 1) {
      const from = { name: `Visitor ${number}`, callbackUrl: receivers.slow.url('/flooded') };
      const [status, body] = await post({ from, message: 'hi' });
      statuses.push(status);
      last.push(body);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect(last.at(-1)).toMatchObject({ error: 'Rate limit exceeded', retryAfter: expect.any(Number) });
    // It does not affect the registered ones.
    expect((await post(message(receivers.slow.url()), mine.api_key))[0]).toBe(200);
  });
});

/** For every delivery: one id, the same bytes, and good signatures. */
function expectSameCallback({ received }: Receiver): void {
  expect(new Set(received.map(({ id }) => id)).size).toBe(1);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  for (const one of received) expect(isSigned(one, { secret })).toBe(true);
}

function message(callbackUrl: string, metadata: JsonObject = {}): JsonObject {
  return { from: { name: 'Me', callbackUrl }, message: 'hello', metadata };
}

/** Sends a message with this callback and gives its id. */
async function send(url: string, key: string = mine.api_key, metadata: JsonObject = {}): Promise<string> {
  const [status, body] = await post(message(url, metadata), key);
  expect(status, JSON.stringify(body)).toBe(200);
  return String(body['replyTo']);
}

async function post(json: JsonObject, key?: string): Promise<[number, JsonObject]> {
  const answer = await call(system.url, { method: 'POST', path: '/a2a', json, ...(key !== undefined && { key }) });
  return [answer.status, (await answer.json()) as JsonObject];
}

async function admin(path: string, method = 'GET'): Promise<[number, JsonObject]> {
  const answer = await call(system.url, { method, path, key: system.adminKey });
  return [answer.status, (await answer.json()) as JsonObject];
}

interface Delivery {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly ended_at: string | null;
  readonly failures: readonly { readonly reason: string; readonly status?: number }[];
}

/** The delivery that answers this message, when nothing more is done about it. */
async function ended(requestId: string): Promise<Delivery> {
  for (;;) {
    const [, page] = await admin('/admin/v1/outbox?limit=200');
    const found = (page['deliveries'] as unknown as (Delivery & { request_id: string })[]).find(
      (one) => one.request_id === requestId,
    );
    if (found !== undefined && found.state !== 'due') return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function status(code: number): Behaviour {
  return (response) => response.writeHead(code).end();
}
