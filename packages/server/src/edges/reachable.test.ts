import { expect, test } from 'vitest';
import { reachable } from './reachable.ts';

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['agent.example', 'agent.example'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
  ['::1', '[::1]'],
])('%s is reached at %s', (host, place) => {
  expect(reachable(host)).toBe(place);
});
