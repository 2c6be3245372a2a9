import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { call } from './call.ts';
import { Receiver } from './receiver.ts';
import { agentModule, System } from './system.ts';
import { TestAuthority } from './test-authority.ts';

const authority = new TestAuthority();
const receiver = await Receiver.start(authority.issue(['IP:127.0.0.1']));
const system = await System.start({
  config: {
    default_agent: 'letters',
    agents: { letters: { driver: 'module', module: agentModule('letters'), max_parallel: 64 } },
    mailbox: { name: 'Mr. Tee', requests_per_minute: 10_000, max_concurrent: 64 },
    gate: { allow: [receiver.hostPort], ca: [authority.path] },
  },
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  authority[Symbol.dispose]();
});

test('hello', async () => {
  const answer = await call(system.url, { method: 'POST', path: '/a2a', json: { from: 'Me', message: 'Hello!' } });
  expect([answer.status, await answer.json()]).toEqual([200, {}]);
});
test('cb', async () => {
  const answer = await call(system.url, { method: 'POST', path: '/a2a', json: { from: {name: 'Me', callbackUrl: receiver.url()}, message: 'Hello!' } });
  expect([answer.status, await answer.json()]).toMatchObject([200, {}]);
  const got = await receiver.until(1);
  expect(got).toEqual([])
});
