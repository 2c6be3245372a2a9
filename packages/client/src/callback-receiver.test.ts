import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { CallbackReceiver, CallbackRefused } from './callback-receiver.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const PUBLIC_KEY = `whpk_${Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')}`;
const NOW = new Date('2026-03-28T12:00:00.000Z');
const BODY = '{"messageId":"msg_1","message":{"content":"é"}}';

function signed({ id = 'msg_1', at = NOW, body = BODY, scheme = 'v1' } = {}) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  const signature =
    scheme === 'v1'
      ? createHmac('sha256', Buffer.from(SECRET.slice(6), 'base64'))
          .update(content)
          .digest('base64')
      : sign(null, content, privateKey).toString('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `${scheme},${signature}` };
  return { headers, body: Buffer.from(body) };
}

function receiver(options: Partial<ConstructorParameters<typeof CallbackReceiver>[0]> = { secret: SECRET }) {
  const answers: string[] = [];
  const made = new CallbackReceiver({
    now: () => NOW,
    onAnswer: ({ messageId }) => void answers.push(messageId),
    ...options,
  });
  return { made, answers };
}

describe('a callback', () => {
  test.each([
    ['by HMAC', 'v1', { secret: SECRET }],
    ['by Ed25519', 'v1a', { publicKey: PUBLIC_KEY }],
    ['by either, with both keys at hand', 'v1a', { secret: SECRET, publicKey: PUBLIC_KEY }],
  ])('that is signed %s is handed on', async (_, scheme, keys) => {
    const { made, answers } = receiver(keys);
    expect(await made.receive(signed({ scheme }))).toEqual({ id: 'msg_1', signedAt: NOW, isRepeat: false });
    expect(answers).toEqual(['msg_1']);
  });

  test('of Standard Webhooks’ own example is good', async () => {
    const { made } = receiver({ secret: SECRET, now: () => new Date(1614265330 * 1000) });
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,bm9ldHRo v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    // Its signature is good, and only then is it found to be no answer of a mailbox.
    await expect(made.receive({ headers, body: Buffer.from('{"test": 2432232314}') })).rejects.toMatchObject({
      status: 400,
    });
  });

  const forged = (change: (one: ReturnType<typeof signed>) => object) => ({ ...signed(), ...change(signed()) });
  test.each([
    ['another body', forged(() => ({ body: Buffer.from(`${BODY} `) }))],
    ['another id', forged(({ headers }) => ({ headers: { ...headers, 'webhook-id': 'msg_2' } }))],
    ['another time', forged(({ headers }) => ({ headers: { ...headers, 'webhook-timestamp': '1774699201' } }))],
    ['no signature of a scheme we have a key for', signed({ scheme: 'v1a' })],
    [
      'a signature that is no base64',
      forged(({ headers }) => ({ headers: { ...headers, 'webhook-signature': 'v1,%%%' } })),
    ],
    [
      'a signature padded as no base64 is',
      forged(({ headers }) => ({ headers: { ...headers, 'webhook-signature': 'v1,AA=' } })),
    ],
    ['a time long ago', signed({ at: new Date(NOW.getTime() - 301_000) })],
    ['a time far ahead', signed({ at: new Date(NOW.getTime() + 301_000) })],
  ])('with %s is refused, and the handler is not called', async (_, callback) => {
    const { made, answers } = receiver();
    await expect(made.receive(callback as ReturnType<typeof signed>)).rejects.toMatchObject({ status: 401 });
    expect(answers).toEqual([]);
  });

  test.each([
    ['half a surrogate pair', 'a\ud800b'],
    ['content as deep as an agent likes', Array.from({ length: 2000 }).reduce((inner) => [inner], 1)],
    ['as many bytes as our server has for ten million characters', 'x'.repeat(60_000_000)],
  ])('with %s is taken', async (_, content) => {
    const received: unknown[] = [];
    const { made } = receiver({ secret: SECRET, onAnswer: ({ message }) => void received.push(message.content) });
    const body = JSON.stringify({ messageId: 'msg_1', message: { content } });
    await made.receive(signed({ body }));
    // Not by `toEqual`, which would print it.
    expect(JSON.stringify(received[0]) === JSON.stringify(content)).toBe(true);
  });

  test('that is signed but not JSON is refused', async () => {
    await expect(receiver().made.receive(signed({ body: '{"messageId":' }))).rejects.toMatchObject({ status: 400 });
  });

  test('that arrives again is dropped, even while the first is being handled', async () => {
    let finish = () => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let calls = 0;
    const { made } = receiver({
      secret: SECRET,
      onAnswer: async () => {
        calls += 1;
        await held;
      },
    });
    const both = [made.receive(signed()), made.receive(signed())];
    setTimeout(finish, 5);
    // Whichever was verified first.
    expect((await Promise.all(both)).filter(({ isRepeat }) => isRepeat)).toHaveLength(1);
    expect([(await made.receive(signed())).isRepeat, calls]).toEqual([true, 1]);
  });

  test('whose handling failed is handed on again', async () => {
    let calls = 0;
    const { made } = receiver({
      secret: SECRET,
      onAnswer: () => {
        calls += 1;
        if (calls === 1) throw new Error('disk full');
      },
    });
    await expect(made.receive(signed())).rejects.toThrow('disk full');
    expect((await made.receive(signed())).isRepeat).toBe(false);
  });

  test('that arrives again while the first is being handled fails with it, and is delivered at the next attempt', async () => {
    let fail = (_: Error) => {};
    const held = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const handed: string[] = [];
    const { made } = receiver({
      secret: SECRET,
      onAnswer: (_, { id }) => {
        handed.push(id);
        return handed.filter((one) => one === 'msg_1').length === 1 && id === 'msg_1' ? held : undefined;
      },
    });
    const both = [made.receive(signed()), made.receive(signed())].map((one) => one.catch(String));
    // By then both have been checked.
    for (const id of ['msg_2', 'msg_3', 'msg_4']) await made.receive(signed({ id }));
    fail(new Error('disk full'));
    expect(await Promise.all(both)).toEqual(['Error: disk full', 'Error: disk full']);
    expect((await made.receive(signed())).isRepeat).toBe(false);
    expect(handed.filter((id) => id === 'msg_1')).toHaveLength(2);
  });

  test('is forgotten when many others have come', async () => {
    const { made } = receiver({ secret: SECRET, remembers: 2 });
    for (const id of ['msg_1', 'msg_2', 'msg_3']) await made.receive(signed({ id }));
    expect((await made.receive(signed({ id: 'msg_3' }))).isRepeat).toBe(true);
    expect((await made.receive(signed({ id: 'msg_1' }))).isRepeat).toBe(false);
  });
});

describe('as a handler of the web', () => {
  test.each([
    [204, signed()],
    [401, signed({ scheme: 'v1a' })],
    [400, signed({ body: '[]' })],
    [413, signed({ body: 'x'.repeat(101) })],
  ])('it answers %i', async (status, { headers, body }) => {
    const { made } = receiver({ secret: SECRET, maxBytes: 100 });
    const request = new Request('https://me.example/in', { method: 'POST', headers, body });
    expect((await made.handle(request)).status).toBe(status);
  });

  test('it does not read on once there is too much', async () => {
    const { made } = receiver({ secret: SECRET, maxBytes: 100 });
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new Uint8Array(60));
      },
    });
    const init = { method: 'POST', headers: signed().headers, body, duplex: 'half' as const };
    expect((await made.handle(new Request('https://me.example/in', init))).status).toBe(413);
    expect(pulled).toBeLessThan(5);
  });

  const { headers } = signed();
  test.each([
    ['400 to one without an id', 400, { ...headers, 'webhook-id': '' }],
    ['400 to one without a time', 400, { ...headers, 'webhook-timestamp': 'now' }],
    ['400 to one without a signature', 400, { ...headers, 'webhook-signature': '' }],
    ['401 to one of long ago', 401, signed({ at: new Date(NOW.getTime() - 301_000) }).headers],
    ['401 to one signed with a key we do not have', 401, signed({ scheme: 'v1a' }).headers],
    [
      '413 to one whose Content-Length is too large',
      413,
      { ...headers, 'content-length': String(64 * 1024 * 1024 + 1) },
    ],
  ])('it answers %s without reading its body', async (_, status, received) => {
    let pulled = 0;
    // Not even one piece is read ahead.
    const strategy = new CountQueuingStrategy({ highWaterMark: 0 });
    const pull = () => {
      pulled += 1;
    };
    const body = new ReadableStream<Uint8Array>({ pull }, strategy);
    const init = { method: 'POST', headers: received, body, duplex: 'half' as const };
    expect((await receiver().made.handle(new Request('https://me.example/in', init))).status).toBe(status);
    expect(pulled).toBe(0);
  });

  test('unproven callbacks share a budget of two of the largest', async () => {
    const { made, answers } = receiver();
    const piece = new Uint8Array(1024 * 1024);
    /** Sends so many megabytes, and stops on request. */
    const pour = async (megabytes: number) => {
      const [poured, ended] = [new Latch(), new Latch()];
      const body = (async function* () {
        for (let sent = 0; sent < megabytes; sent += 1) yield piece;
        poured.open();
        await ended.opened;
      })();
      const status = made.receive({ headers: signed().headers, body }).catch((error: CallbackRefused) => error.status);
      await Promise.race([poured.opened, status]);
      return { end: ended.open, status };
    };
    const [first, second] = [await pour(60), await pour(60)];
    expect(await (await pour(9)).status).toBe(503);
    // What fits is taken in the meantime.
    await made.receive(signed());
    for (const { end } of [first, second]) end();
    expect([await first.status, await second.status, answers]).toEqual([401, 401, ['msg_1']]);
    const third = await pour(9);
    third.end();
    expect(await third.status).toBe(401);
  });

  test('it answers 500 when the handler fails, so that the callback is sent again', async () => {
    const { made } = receiver({
      secret: SECRET,
      onAnswer: () => {
        throw new Error('no');
      },
    });
    const { headers, body } = signed();
    const request = new Request('https://me.example/in', { method: 'POST', headers, body });
    expect((await made.handle(request)).status).toBe(500);
  });
});

test.each([
  ['without a key to check by', {}, 'a receiver needs secret or publicKey'],
  ['with an invalid secret', { secret: SECRET.slice(6) }, 'secret must be whsec_ and base64'],
  ['with half a public key', { publicKey: 'whpk_AAAA' }, 'publicKey must be whpk_ and base64 of 32 bytes'],
])('a receiver %s is refused when it is made, not with each callback', (_, keys, why) => {
  expect(() => receiver(keys)).toThrow(new RegExp(`^${why}`));
});

test.each([
  ['v1a', { secret: SECRET }, 'verify it with the public key'],
  ['v1', { publicKey: PUBLIC_KEY }, 'verify it with the secret'],
  ['v2', { secret: SECRET, publicKey: PUBLIC_KEY }, 'no signature of this callback is valid'],
])('a callback signed as %s alone is refused with the key that the receiver lacks', async (scheme, keys, why) => {
  const { made } = receiver(keys);
  const refused = made.receive(signed({ scheme })).catch((error: unknown) => error);
  expect(await refused).toBeInstanceOf(CallbackRefused);
  expect(String(await refused)).toContain(why);
});

class Latch {
  open = () => {};
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}
