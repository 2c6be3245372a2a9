import { expect, test } from 'vitest';
import { grant } from './host-policy.ts';

const offered = [
  { capability: 'tools', enabled: true, metadata: {} },
  { capability: 'mcp', enabled: true, metadata: {} },
  { capability: 'proc', enabled: false, metadata: {} },
];

test.each<[string[], string[] | undefined]>([
  [['tools'], ['tools']],
  [
    ['mcp', 'tools', 'learning'],
    ['tools', 'mcp'],
  ],
  [[], ['tools', 'mcp']],
  [
    ['streaming', 'artifacts'],
    ['tools', 'mcp'],
  ],
  [['streaming', 'mcp'], ['mcp']],
  [['learning'], undefined],
  [['proc'], undefined],
])('an agent that asks for %j gets %j', (wanted, granted) => {
  expect(grant(wanted, offered)?.map(({ capability }) => capability)).toEqual(granted);
});

test('a host that offers nothing still accepts a handshake that requests nothing', () => {
  expect(grant([], [])).toEqual([]);
});
