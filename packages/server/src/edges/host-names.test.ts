import { describe, expect, test } from 'vitest';
import { HostNames } from './host-names.ts';

describe('a server answers to', () => {
  const names = new HostNames([
    '127.0.0.1',
    'localhost',
    'Desk.Example.com',
    'only.example.com:8443',
    '::1',
    '[fd00::7]',
  ]);

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1:7420', 'desk.example.com', 'only.example.com:8443', '[::1]'])(
    '%s',
    (host) => expect(names.has(host)).toBe(true),
  );

  test.each(['[::1]:7420', '[fd00::7]:80', '[FD00::7]'])('%s, an IPv6 address', (host) =>
    expect(names.has(host)).toBe(true),
  );
});

describe('a server does not answer to', () => {
  const names = new HostNames(['127.0.0.1', 'only.example.com:8443']);

  test.each([
    'evil.example.com',
    'localhost',
    'only.example.com',
    'only.example.com:80',
    '127.0.0.1.evil.example.com',
    '10.0.0.7',
    '[::1]',
    '',
    ':7420',
  ])('%j', (host) => expect(names.has(host)).toBe(false));
});

describe('a malformed Host is refused', () => {
  const names = new HostNames(['localhost', '127.0.0.1', '::1', '0.0.0.0']);

  test.each([
    'localhost:evil.com',
    'localhost:7420.evil.com',
    'localhost:80:80',
    'localhost:',
    'localhost:123456',
    'localhost:-1',
    '127.0.0.1:evil.com',
    '[::1]:evil.com',
    '[::1]evil.com',
    '[::1',
    '::1]:80',
    '::1:80',
  ])('%j', (host) => expect(names.has(host)).toBe(false));
});

describe.each(['0.0.0.0', '::', '[::]'])('a server that listens on %s', (everywhere) => {
  const names = new HostNames([everywhere, 'localhost']);

  test.each(['10.0.0.7', '10.0.0.7:7420', '192.168.1.2:80', '[fe80::1]:7420', '0.0.0.0:7420', '[::]', 'localhost:1'])(
    'answers to %s',
    (host) => expect(names.has(host)).toBe(true),
  );

  test.each(['evil.example.com', '10.0.0.7.evil.example.com', '10.0.0', '0x7f000001', 'fe80::1', '[evil]'])(
    'but not to %s, which is a name',
    (host) => expect(names.has(host)).toBe(false),
  );
});
