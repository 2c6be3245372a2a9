import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { provideAdminKey } from './admin-key.ts';
import { Keys } from './keys.ts';

const [FIRST, SECOND] = ['first-'.padEnd(24, 'x'), 'second-'.padEnd(24, 'x')];

async function keysOn(store = memoryStore()): Promise<Keys> {
  const hex = () => randomBytes(16).toString('hex');
  const keys = new Keys({
    store: store.keys,
    clock: new TestClock(),
    ids: { hex, sortable: hex, uuid: randomUUID },
  });
  await keys.load();
  return keys;
}

test('a new admin key in the environment revokes the previous one, and no other key', async () => {
  const keys = await keysOn();
  const { secret: made } = await keys.create({ agentId: 'admin', role: 'admin', description: 'for the console' });
  const { secret: ofAgent } = await keys.create({ agentId: 'ada', role: 'agent' });
  await provideAdminKey(keys, { adminKey: FIRST });
  await provideAdminKey(keys, { adminKey: FIRST });
  expect(keys.find(FIRST)?.role).toBe('admin');
  await provideAdminKey(keys, { adminKey: SECOND });
  expect([FIRST, SECOND, made, ofAgent].map((key) => keys.find(key)?.role)).toEqual([
    undefined,
    'admin',
    'admin',
    'agent',
  ]);
});

test('without a key in the environment, the key of the last start stays', async () => {
  const keys = await keysOn();
  await provideAdminKey(keys, { adminKey: FIRST });
  const shown: string[] = [];
  await provideAdminKey(keys, { onAdminKey: (key) => shown.push(key) });
  expect([keys.find(FIRST)?.role, shown]).toEqual(['admin', []]);
});

test('an existing admin key may become the one of the environment, and revokes the previous one', async () => {
  const keys = await keysOn();
  await provideAdminKey(keys, { adminKey: FIRST });
  const { secret } = await keys.create({ agentId: 'admin', role: 'admin', description: 'spare' });
  await provideAdminKey(keys, { adminKey: secret });
  expect([keys.find(FIRST), keys.find(secret)?.role]).toEqual([undefined, 'admin']);
});

test('a revoked key is refused with its id and the command that creates another', async () => {
  const keys = await keysOn();
  await provideAdminKey(keys, { adminKey: FIRST });
  await provideAdminKey(keys, { adminKey: SECOND });
  await expect(provideAdminKey(keys, { adminKey: FIRST })).rejects.toThrow(
    /^DRAGOMAN_ADMIN_KEY holds the key key-\w+, which was revoked on .+Z\. Make a new one: export DRAGOMAN_ADMIN_KEY=/,
  );
  expect(keys.find(SECOND)?.role).toBe('admin');
});

test('a key of an agent is not an admin key', async () => {
  const keys = await keysOn();
  const { secret } = await keys.create({ agentId: 'ada', role: 'agent' });
  await expect(provideAdminKey(keys, { adminKey: secret })).rejects.toThrow('holds an API key of the agent ada.');
});

test.each(['', 'hunter2', 'x'.repeat(23)])('a short key is refused: %j', async (adminKey) => {
  const keys = await keysOn();
  const refused = provideAdminKey(keys, { adminKey });
  await expect(refused).rejects.toThrow(`has ${adminKey.length} characters; it needs at least 24. Make a new one:`);
  await expect(refused).rejects.toMatchObject({ code: 'admin_key' });
});

test('a short key that an earlier version recorded is invalid', async () => {
  const keys = await keysOn();
  await keys.create({ agentId: 'admin', role: 'admin', secret: 'hunter2' });
  expect(keys.find('hunter2')).toBeUndefined();
});
