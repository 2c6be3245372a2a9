import { expect, test } from 'vitest';
import { addressOf } from './callback-address.ts';

test.each([
  'https://agent.example/in',
  'HTTPS://Agent.Example:443/a/../in',
  'https://agent.example./in',
  'https://agent.example.:443/in',
  'https://agent.example/in#here',
  'https://agent.example/in?',
  'https://agent.example/in?#',
])('%s is one receiver', (url) => {
  expect(addressOf(url)).toBe('https://agent.example/in');
});

test.each(['https://agent.example:8443/in?a=1', 'https://127.0.0.1/', 'https://[2001:db8::1]:8443/in'])(
  '%s is unchanged',
  (url) => {
    expect(addressOf(url)).toBe(url);
  },
);
