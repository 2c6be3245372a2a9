import { expect, test } from 'vitest';
import { memoryStore } from '../../../test-support/memory-store.ts';
import { SilentLog } from '../../../test-support/silent-log.ts';
import { TestClock } from '../../../test-support/test-clock.ts';
import { requestRow } from '../../store/requests.contract.ts';
import { PushNotifications, type PushNotificationsOptions } from './push-notifications.ts';

const NAME = 'a'.repeat(32);

test('a notification whose token cannot be decrypted is not sent, and not for lack of a config', async () => {
  const store = memoryStore();
  await store.requests.accept(requestRow({ requestId: 'r1' }));
  const config = {
    owner: 'ann',
    requestId: 'r1',
    agentId: 'echo',
    configId: 'c',
    name: NAME,
    url: 'https://one.example/',
  };
  const row = { ...config, version: '1.0', secrets: 'sealed', createdAt: 1, position: '', isOver: false } as const;
  await store.pushConfigs.put(row, 10);
  const vault = { seal: async () => '', unseal: async () => undefined };
  const unused = {} as Pick<PushNotificationsOptions, 'tasks' | 'outbox' | 'gate'>;
  const shared = { ...unused, store, vault, clock: new TestClock(), log: new SilentLog(), mostQueued: 1 };
  const pushes = new PushNotifications(shared);
  expect(await pushes.headersFor(`push-${NAME}-1`)).toContain('cannot be decrypted');
  expect(await pushes.headersFor(`push-${'b'.repeat(32)}-1`)).toContain('was deleted');
  expect(await pushes.headersFor('cb-1')).toEqual({});
});
