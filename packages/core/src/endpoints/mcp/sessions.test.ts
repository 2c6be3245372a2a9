import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { TestIds } from '../../../test-support/test-ids.ts';
import { ALL_PERMISSIONS, type Principal } from '../../call/principal.ts';
import { Seals } from './seals.ts';
import { McpSessions } from './sessions.ts';

const ada: Principal = { id: 'ada', kind: 'agent', permissions: ALL_PERMISSIONS };
const bob: Principal = { ...ada, id: 'bob' };
const given = { agentId: undefined, version: '2025-06-18', client: 'editor 1', capabilities: { elicitation: {} } };
const key = randomBytes(32);
const sessionsAt = (node: number, sealedWith = key) =>
  new McpSessions({ ids: new TestIds(), seals: new Seals(sealedWith), nodes: { node } });

test('a session of one node is open at another, for its caller and its endpoint', () => {
  const { id } = sessionsAt(1).open(ada, given);
  const two = sessionsAt(2);
  expect(two.find(bob, id, undefined)).toBeUndefined();
  expect(two.find(ada, id, 'echo')).toBeUndefined();
  const found = two.find(ada, id, undefined);
  expect(found).toMatchObject({ ...given, id, owner: 'ada' });
  expect(two.find(ada, id, undefined)).toBe(found);
});

test('a session that was sealed with another key, or changed, is not opened', () => {
  const { id } = sessionsAt(1).open(ada, given);
  expect(sessionsAt(2, randomBytes(32)).find(ada, id, undefined)).toBeUndefined();
  const [body = '', seal] = id.split('.');
  const text = Buffer.from(body, 'base64url').toString().replace('"ada"', '"bob"');
  const changed = `${Buffer.from(text).toString('base64url')}.${seal}`;
  expect(sessionsAt(2).find(bob, changed, undefined)).toBeUndefined();
});

test('a session that has ended at its own node is not opened there again', () => {
  const sessions = sessionsAt(1);
  const { id } = sessions.open(ada, given);
  sessions.end(id);
  expect(sessions.find(ada, id, undefined)).toBeUndefined();
});
