import { expect, test } from 'vitest';
import { completeConfig } from './complete-config.ts';

test('an empty configuration is complete with the defaults of the schema', () => {
  const { host, port, store, agents, mailbox, messages } = completeConfig({});
  expect({ host, port, store, agents }).toEqual({ host: '127.0.0.1', port: 7420, store: 'sqlite', agents: {} });
  expect(mailbox).toMatchObject({ name: 'Dragoman', requests_per_minute: 30, callbacks: { retries: 3, per_host: 4 } });
  expect(messages).toMatchObject({ agent_id: 'dragoman', max_age_ms: 300_000 });
});

test('given values stay, including 0, and so do keys without a default', () => {
  const config = { port: 0, mailbox: { url: 'https://a.example', callbacks: { retries: 0 } } };
  const { port, mailbox, admin } = completeConfig(config);
  expect([port, mailbox.url, mailbox.callbacks.retries, mailbox.callbacks.timeout_ms]).toEqual([
    ...[0, 'https://a.example', 0, 10_000],
  ]);
  expect(admin).toBeUndefined();
});

test('an object without a default is filled once it is given', () => {
  expect(completeConfig({ admin: { port: 1 } }).admin).toEqual({ host: '127.0.0.1', port: 1 });
});

test('the given configuration is not changed', () => {
  const config = { mailbox: {} };
  completeConfig(config);
  expect(config).toEqual({ mailbox: {} });
});
