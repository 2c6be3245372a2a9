import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from './framing/any-character.contract.ts';
import { decodeUtf8, encodeUtf8, parseUrl } from './platform.ts';

test('text is read back from its bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      expect(decodeUtf8(encodeUtf8(text))).toBe(text);
    }),
  );
});

test('bytes that are not UTF-8 give nothing, never replacement characters', () => {
  for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0x80], [0xf4, 0x90, 0x80, 0x80]]) {
    expect(decodeUtf8(Uint8Array.from(bytes))).toBeUndefined();
  }
});

test('one bad text does not spoil the next', () => {
  expect(decodeUtf8(Uint8Array.of(0x61, 0xe2, 0x82))).toBeUndefined();
  expect(decodeUtf8(Uint8Array.of(0x62))).toBe('b');
});

test('a byte order mark is kept, so that it can be refused by name', () => {
  expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\uFEFFa');
});

test('a view into a larger buffer is read as that view only', () => {
  expect(decodeUtf8(encodeUtf8('abcdef').subarray(2, 4))).toBe('cd');
});

test('a URL is read as browsers read it, or not at all', () => {
  expect(parseUrl('https://user:secret@EXAMPLE.com:443/a#b')).toMatchObject({
    protocol: 'https:',
    hostname: 'example.com',
    username: 'user',
    password: 'secret',
    hash: '#b',
  });
  expect(parseUrl('http://0x7f.1/')?.hostname).toBe('127.0.0.1');
  expect(parseUrl('/relative')).toBeUndefined();
  expect(parseUrl('https://')).toBeUndefined();
});
