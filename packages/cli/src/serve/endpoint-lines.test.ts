import { expect, test } from 'vitest';
import { endpointLines } from './endpoint-lines.ts';

const url = 'http://127.0.0.1:7420';

test('every open endpoint is listed, and no other', () => {
  const closed = { url: undefined, socket: undefined };
  expect(
    endpointLines({ url, adminUrl: url, wire: closed, messages: closed }, { folder: '/home/ada', host: '127.0.0.1' }),
  ).toEqual([]);
  const wire = { url: 'tcp://127.0.0.1:40123', socket: '/home/ada/wire.sock' };
  const open = { url, adminUrl: 'http://127.0.0.1:7421', wire, messages: { url: 'tcp://127.0.0.1:40124' } };
  expect(endpointLines(open, { folder: '/home/ada', host: '127.0.0.1' })).toEqual([
    '  admin    http://127.0.0.1:7421',
    '  wire     tcp://127.0.0.1:40123, wire.sock',
    '  messages tcp://127.0.0.1:40124',
  ]);
});

test('a server that listens on every address lists each other one', () => {
  const closed = { url: undefined, socket: undefined };
  const at = (address: string, family: 'IPv4' | 'IPv6', scopeid = 0) =>
    ({ address, family, netmask: '', mac: '', internal: false, cidr: null, scopeid }) as never;
  const interfaces = {
    lo: [at('127.0.0.1', 'IPv4'), at('::1', 'IPv6')],
    eth0: [at('192.168.1.7', 'IPv4'), at('fe80::1', 'IPv6', 2), at('2001:db8::7', 'IPv6')],
  };
  const linesFor = (host: string) => {
    return endpointLines({ url, adminUrl: url, wire: closed, messages: closed }, { folder: '/', host }, interfaces);
  };
  expect(linesFor('0.0.0.0')).toEqual(['           http://192.168.1.7:7420']);
  expect(linesFor('::')).toContain('           http://[2001:db8::7]:7420');
  expect(linesFor('::').join()).not.toContain('fe80');
  expect(linesFor('127.0.0.1')).toEqual([]);
});
