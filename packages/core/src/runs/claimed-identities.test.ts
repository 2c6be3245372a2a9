import { newEnvelope } from '@dragoman/protocols';
import { expect, test } from 'vitest';
import { claimedIdentities } from './claimed-identities.ts';

test('speaking as the system, a service or another user needs a permission; as oneself it needs none', () => {
  const needed = (given: Parameters<typeof newEnvelope>[0]) => claimedIdentities(newEnvelope(given), 'ada');
  expect(needed({ identity_origin: 'system' })).toEqual(['identity.system']);
  expect(needed({ identity_origin: 'service', user_id: 'u_001' })).toEqual(['identity.service', 'identity.user']);
  expect(needed({ identity_origin: 'user', user_id: 'ada' })).toEqual([]);
  expect(needed({ identity_origin: 'agent' })).toEqual([]);
});
