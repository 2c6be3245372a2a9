import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newAuth, newEnvelope } from './envelope.ts';
import { REDACTED, redacted, redactedAuth, withoutSecrets } from './secrets.ts';

const auth = newAuth({
  method_id: 'oauth',
  bearer_token: 'tok-123',
  api_key_ref: 'vault:a',
  credential_ref: 'vault:b',
  extra_headers: { 'x-api-key': 'k-1' },
  _meta: { hint: 'h' },
});

describe('the journaled envelope', () => {
  test('the two fields with secrets are emptied, references and all else stay', () => {
    const envelope = newEnvelope({ request_id: 'r1', auth, params: { password: 'the agent needs it' } });
    expect(withoutSecrets(envelope)).toEqual({
      ...envelope,
      auth: { ...auth, bearer_token: null, extra_headers: {} },
    });
    expect(envelope.auth).toBe(auth);
  });

  test('an envelope without auth is itself', () => {
    const envelope = newEnvelope();
    expect(withoutSecrets(envelope)).toBe(envelope);
  });
});

describe('the logged envelope', () => {
  test('of auth only what names a credential', () => {
    expect(redactedAuth(auth)).toEqual({
      method_id: 'oauth',
      bearer_token: REDACTED,
      api_key_ref: 'vault:a',
      credential_ref: 'vault:b',
      extra_headers: REDACTED,
      _meta: REDACTED,
    });
    expect(redactedAuth(newAuth())).toEqual({});
    expect(redactedAuth(null)).toBeNull();
  });

  test.each(['token', 'accessToken', 'ACCESS_TOKEN', 'password', 'db-password', 'client_secret', 'Authorization'])(
    'a member named %s is marked',
    (key) => expect(redacted({ a: [{ [key]: 'x' }] })).toEqual({ a: [{ [key]: REDACTED }] }),
  );

  test.each(['api_key', 'apiKey', 'X-API-Key', 'private_key', 'cookie', 'Set-Cookie', 'passphrase'])(
    'a member named %s is marked, whatever it holds',
    (key) => expect(redacted({ [key]: { v: 1 } })).toEqual({ [key]: REDACTED }),
  );

  test('references, counts of tokens and flags are no secrets', () => {
    const value = { api_key_ref: 'vault:a', max_tokens: 100, total_tokens: 7, has_password: true, token: null };
    expect(redacted(value)).toEqual(value);
  });

  test('a bearer credential inside a text is marked', () => {
    expect(redacted('curl -H "Authorization: Bearer eyJ.a-b_c.0"')).toBe('curl -H "Authorization: Bearer [redacted]"');
    expect(redacted('AUTHORIZATION: BEARER eyJ.a-b_c.0')).toBe('AUTHORIZATION: BEARER [redacted]');
    expect(redacted('bearer\teyJ.a-b_c.0')).toBe('bearer [redacted]');
    expect(redacted('a bearer of news')).toBe('a bearer of news');
  });

  test('no secret under such a name survives, at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('token', 'password', 'apiKey'), (around, key) => {
        const value = JSON.parse(JSON.stringify({ around, deep: [{ [key]: 'hunter2-hunter2' }] }));
        expect(JSON.stringify(redacted(value))).not.toContain('hunter2-hunter2');
      }),
    );
  });
});
