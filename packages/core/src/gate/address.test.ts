import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSameAddress, judgeAddress } from './address.ts';

/** The first and the last address of each range, and the reason. */
const REFUSED: readonly (readonly [first: string, last: string, why: string])[] = [
  ['0.0.0.0', '0.255.255.255', 'this host'],
  ['10.0.0.0', '10.255.255.255', 'private'],
  ['100.64.0.0', '100.127.255.255', 'shared'],
  ['100.100.100.200', '100.100.100.200', 'metadata'],
  ['127.0.0.0', '127.255.255.255', 'loopback'],
  ['168.63.129.16', '168.63.129.16', 'metadata'],
  ['169.254.0.0', '169.254.255.255', 'link-local'],
  ['172.16.0.0', '172.31.255.255', 'private'],
  ['192.0.0.0', '192.0.0.255', 'protocol assignments'],
  ['192.0.2.0', '192.0.2.255', 'documentation'],
  ['192.88.99.0', '192.88.99.255', 'relay'],
  ['192.168.0.0', '192.168.255.255', 'private'],
  ['198.18.0.0', '198.19.255.255', 'benchmarks'],
  ['198.51.100.0', '198.51.100.255', 'documentation'],
  ['203.0.113.0', '203.0.113.255', 'documentation'],
  ['224.0.0.0', '239.255.255.255', 'multicast'],
  ['240.0.0.0', '255.255.255.255', 'reserved'],
  ['::', '::', 'this host'],
  ['::1', '::1', 'loopback'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'private'],
  ['fe80::', 'febf:ffff::', 'link-local'],
  ['fec0::', 'feff::1', 'site-local'],
  ['ff00::', 'ff02::1', 'multicast'],
  ['100::', '100::ffff:ffff:ffff:ffff', 'discard'],
  ['64:ff9b:1::', '64:ff9b:1:ffff::', 'local translation'],
  ['2001::', '2001:1ff:ffff::', 'protocol assignments'],
  ['2001:db8::', '2001:db8:ffff::', 'documentation'],
  ['3fff::', '3fff:fff::', 'documentation'],
  ['5f00::', '5f00:ffff::', 'segment routing'],
  ['4000::', 'fbff::', 'outside of the public range'],
];

describe.each(REFUSED)('%s to %s', (first, last, why) => {
  test(`is refused: ${why}`, () => {
    for (const address of [first, last]) expect(judgeAddress(address)?.why).toContain(why);
  });
});

test.each([
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '198.17.255.255',
  '223.255.255.255',
  '2606:4700::1111',
  '2001:200::1',
  '2a00::',
  '::ffff:1.1.1.1',
  '64:ff9b::101:101',
  '2002:101:101::1',
])('%s is public', (address) => expect(judgeAddress(address)).toBeUndefined());

test.each([
  '',
  'localhost',
  '127.1',
  '0x7f.0.0.1',
  '1.1.1.1.',
  'fe80::1%lo',
  '2606:4700::1111%eth0',
  '1.1.1.1 ',
  '::g',
])('an invalid address is never public: %j', (text) => expect(judgeAddress(text)).toBeDefined());

const byte = fc.nat(255);
const ipv4 = fc.tuple(byte, byte, byte, byte);

test('an address inside another is judged as what is inside', () => {
  fc.assert(
    fc.property(ipv4, ([a, b, c, d]) => {
      const plain = `${a}.${b}.${c}.${d}`;
      const isPublic = judgeAddress(plain) === undefined;
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      for (const wrapped of [
        `::ffff:${plain}`,
        `::ffff:${hex}`,
        `64:ff9b::${hex}`,
        `64:ff9b::${plain}`,
        `2002:${hex}::1`,
      ]) {
        expect(judgeAddress(wrapped) === undefined, wrapped).toBe(isPublic);
      }
    }),
  );
});

test('all spellings of an IPv6 address are judged alike', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (groups) => {
      const full = groups.map((group) => group.toString(16).padStart(4, '0')).join(':');
      const short = new URL(`http://[${full}]/`).hostname.slice(1, -1);
      expect(judgeAddress(full.toUpperCase())).toEqual(judgeAddress(short));
      expect(isSameAddress(full, short)).toBe(true);
    }),
  );
});

test('different addresses are distinguished, however a socket spells them', () => {
  expect(isSameAddress('127.0.0.1', '::ffff:127.0.0.1')).toBe(true);
  expect(isSameAddress('127.0.0.1', '127.0.0.2')).toBe(false);
  expect(isSameAddress('::1', '127.0.0.1')).toBe(false);
  expect(isSameAddress('', '')).toBe(false);
});
