import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { HttpRequest } from './http-request.ts';

describe('reading a body', () => {
  test('one that comes in pieces is put together', async () => {
    const request = new IncomingMessage(new Socket());
    const body = new HttpRequest(request).readBody(10);
    for (const piece of ['01234', '56789', null]) request.push(piece);
    expect(await body).toEqual(Buffer.from('0123456789'));
  });

  test('one that grows past its limit fails there and then, and is not read on', async () => {
    const request = new IncomingMessage(new Socket());
    const body = new HttpRequest(request).readBody(9);
    for (const piece of ['01234', '56789', 'and so on']) request.push(piece);
    expect(await body).toMatchObject({ code: 'too_large' });
    expect(request.isPaused()).toBe(true);
  });

  test('one whose peer has gone, before or while it is read, is none', async () => {
    const gone = new IncomingMessage(new Socket());
    gone.destroy();
    await new Promise((resolve) => gone.once('close', resolve));
    expect(await new HttpRequest(gone).readBody(10)).toBeUndefined();

    const going = new IncomingMessage(new Socket());
    const body = new HttpRequest(going).readBody(10);
    going.push('0');
    going.destroy();
    expect(await body).toBeUndefined();
  });
});
