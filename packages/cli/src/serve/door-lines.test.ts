import { expect, test } from 'vitest';
import { doorLines } from './door-lines.ts';

const url = 'http://127.0.0.1:7420';

test('every door is told, and one that is not open is not', () => {
  const closed = { url: undefined, socket: undefined };
  expect(doorLines({ url, adminUrl: url, wire: closed, messages: closed }, '/home/ada')).toEqual([]);
  const wire = { url: 'tcp://127.0.0.1:40123', socket: '/home/ada/wire.sock' };
  const open = { url, adminUrl: 'http://127.0.0.1:7421', wire, messages: { url: 'tcp://127.0.0.1:40124' } };
  expect(doorLines(open, '/home/ada')).toEqual([
    '  admin    http://127.0.0.1:7421',
    '  wire     tcp://127.0.0.1:40123, wire.sock',
    '  messages tcp://127.0.0.1:40124',
  ]);
});
