import { expect, test } from 'vitest';
import { completeConfig } from '../config/complete-config.ts';
import type { Config } from '../config/config-schema.ts';
import { digestOf } from './store.ts';

test('nodes with different names and addresses have the same configuration, and with different agents they do not', () => {
  const digest = (config: Config) => digestOf(completeConfig(config));
  const agents = { echo: { driver: 'module', module: '/echo.mjs' } } as const;
  const one = digest({ agents, port: 7420, cluster: { name: 'one' } });
  expect(digest({ agents, host: '10.0.0.7', port: 7430, cluster: { name: 'two' } })).toBe(one);
  expect(digest({ port: 7420, cluster: { name: 'one' } })).not.toBe(one);
});
