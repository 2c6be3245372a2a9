import { expect, test } from 'vitest';
import { readOffer } from './subprotocols.ts';

const key = Buffer.from('adm_0+/~é').toString('base64url');

test('the first supported subprotocol that the client offers is selected', () => {
  expect(readOffer('v1, v2', ['v2', 'v1'])).toEqual({ subprotocol: 'v2', key: undefined });
  expect(readOffer('v1', ['v2', 'v1'])).toEqual({ subprotocol: 'v1', key: undefined });
});

test('a client that offers none gets none, and one that offers only unknown ones gets the supported ones', () => {
  expect(readOffer(undefined, ['v1'])).toEqual({ subprotocol: undefined, key: undefined });
  expect(readOffer('v3', [])).toEqual({ subprotocol: undefined, key: undefined });
  expect(readOffer('v3', ['v1'])).toMatchObject({
    code: 'invalid_message',
    details: { suggestions: ['Sec-WebSocket-Protocol: v1'] },
  });
});

test('a key may be among them, once', () => {
  expect(readOffer(`dragoman, key.${key}`, ['dragoman'])).toEqual({ subprotocol: 'dragoman', key: 'adm_0+/~é' });
  expect(readOffer(`key.${key}`, [])).toEqual({ subprotocol: undefined, key: 'adm_0+/~é' });
  expect(readOffer(`dragoman,key.${key},key.${key}`, ['dragoman'])).toMatchObject({ code: 'unauthenticated' });
});

test('a key is no subprotocol', () => {
  expect(readOffer(`key.${key}`, ['dragoman'])).toMatchObject({ code: 'invalid_message' });
});
