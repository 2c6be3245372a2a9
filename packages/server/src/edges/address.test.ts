import { describe, expect, test } from 'vitest';
import { addressGroup, callerAddress, isNetwork, proxyList } from './address.ts';

describe('the address of the caller', () => {
  const proxies = proxyList(['10.0.0.0/8', '127.0.0.1', 'fd00::/8']);
  test.each([
    ['the header of an untrusted peer is ignored', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['a proxy is believed', '10.1.2.3', '198.51.100.7', '198.51.100.7'],
    ['a proxy in IPv6 is believed', 'fd00::1', '2001:db8::1', '2001:db8::1'],
    ['a proxy behind an IPv6 socket is believed', '::ffff:10.1.2.3', '198.51.100.7', '198.51.100.7'],
    [
      'entries left of the first untrusted address are ignored',
      '10.1.2.3',
      '203.0.113.9, 198.51.100.7',
      '198.51.100.7',
    ],
    ['a chain of proxies is followed', '10.1.2.3', '198.51.100.7, 10.9.9.9', '198.51.100.7'],
    ['only proxies: the outermost', '10.1.2.3', '10.8.8.8, 10.9.9.9', '10.8.8.8'],
    ['nonsense ends the search', '10.1.2.3', '198.51.100.7, unknown', '10.1.2.3'],
    ['no header', '10.1.2.3', undefined, '10.1.2.3'],
    ['mapped addresses are IPv4', '::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['a zone is not part of the address', 'fe80::1%eth0', undefined, 'fe80::1'],
    ['the peer is gone already', undefined, undefined, ''],
  ])('%s', (_name, peer, forwarded, expected) => {
    expect(callerAddress(peer, forwarded, proxies)).toBe(expected);
  });
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  // Else every caller of a server that listens on :: would be one.
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
  ['', ''],
])('%s belongs to %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

test('a network is an address, with or without a prefix that fits it', () => {
  for (const text of ['10.0.0.7', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8', '2001:db8::/128']) {
    expect(isNetwork(text), text).toBe(true);
    expect(() => proxyList([text]), text).not.toThrow();
  }
  for (const text of [
    '',
    'proxy',
    '999.1.1.1',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '1.2.3.4/-1',
  ]) {
    expect(isNetwork(text), text).toBe(false);
  }
});
