import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { HttpRequest } from './http-request.ts';
import { UnprovenBudget } from './unproven-budget.ts';

describe('reading a body', () => {
  test('a body in pieces is put together', async () => {
    const request = new IncomingMessage(new Socket());
    const body = new HttpRequest(request).readBody({ maxBytes: 10 });
    for (const piece of ['01234', '56789', null]) request.push(piece);
    expect(await body).toEqual(Buffer.from('0123456789'));
  });

  test('a body that grows past its limit fails at once, and is not read further', async () => {
    const request = new IncomingMessage(new Socket());
    const body = new HttpRequest(request).readBody({ maxBytes: 9 });
    for (const piece of ['01234', '56789', 'and so on']) request.push(piece);
    expect(await body).toBe('too_large');
    expect(request.isPaused()).toBe(true);
  });

  test('a body whose peer leaves before its end is absent', async () => {
    const gone = new IncomingMessage(new Socket());
    gone.destroy();
    await new Promise((resolve) => gone.once('close', resolve));
    expect(await new HttpRequest(gone).readBody({ maxBytes: 10 })).toBeUndefined();

    const going = new IncomingMessage(new Socket());
    const body = new HttpRequest(going).readBody({ maxBytes: 10 });
    going.push('0');
    going.destroy();
    expect(await body).toBeUndefined();
  });

  test('a body that arrives byte by byte is put together, and holds at most twice its bytes', async () => {
    const request = new IncomingMessage(new Socket());
    const budget = new UnprovenBudget();
    const body = new HttpRequest(request).readBody({ maxBytes: 1_000, held: budget.hold('10.0.0.1') });
    const bytes = Array.from({ length: 700 }, (_, at) => String(at % 10));
    for (const byte of bytes) {
      request.push(byte);
      await new Promise(setImmediate);
    }
    expect(budget.heldBytes).toBeGreaterThanOrEqual(700);
    expect(budget.heldBytes).toBeLessThanOrEqual(1_000);
    request.push(null);
    expect(String(await body)).toBe(bytes.join(''));
  });

  test('a body above the budget of unproven senders fails at once', async () => {
    const request = new IncomingMessage(new Socket());
    const budget = new UnprovenBudget({ messageBytes: 9, totalBytes: 9 });
    const body = new HttpRequest(request).readBody({ maxBytes: 100, held: budget.hold('10.0.0.1') });
    for (const piece of ['01234', '56789']) request.push(piece);
    expect(await body).toBe('no_room');
    expect(request.isPaused()).toBe(true);
  });

  test.each([
    ['earns a higher limit', 20, '0123456789abcdef'],
    ['earns none', undefined, 'too_large'],
  ])('its first bytes are looked at once when it grows past its limit: %s', async (_what, raised, expected) => {
    const request = new IncomingMessage(new Socket());
    const starts: string[] = [];
    const raise = (start: Uint8Array) => {
      starts.push(Buffer.from(start).toString());
      return raised;
    };
    const body = new HttpRequest(request).readBody({ maxBytes: 8, raise });
    for (const piece of ['01234', '56789', 'abcdef', null]) request.push(piece);
    expect(String(await body)).toBe(expected);
    expect(starts).toEqual(['01234567']);
  });
});
