import type { E2AEnvelope } from '@dragoman/protocols';

/**
 * The permissions that a caller needs because its envelope claims another identity: a key proves neither that the
 * system or a service sent a request, nor on behalf of which user it was sent.
 */
export function claimedIdentities(envelope: E2AEnvelope, callerId: string): readonly string[] {
  const { identity_origin: origin, user_id: user } = envelope;
  const claimed: string[] = [];
  if (origin === 'system' || origin === 'service') claimed.push(`identity.${origin}`);
  if (user !== null && user !== '' && user !== callerId) claimed.push('identity.user');
  return claimed;
}
