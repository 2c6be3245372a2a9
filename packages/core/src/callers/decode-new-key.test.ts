import { expect, test } from 'vitest';
import { decodeNewKeyRequest } from './decode-new-key.ts';

test.each([
  ['a key of an agent', { agent_id: 'desk-agent', role: 'agent', description: 'the laptop' }],
  ['an admin key, for no agent', { role: 'admin', agent_id: null, description: null }],
  ['a request with members of another version', { agent_id: 'desk-agent', expires: 'never' }],
])('%s can be requested', (_name, json) => {
  expect(decodeNewKeyRequest(json)).toMatchObject({ ok: true, value: json });
});

test.each([[null], ['desk-agent'], [['desk-agent']]])('%j is not a request for a key', (json) => {
  expect(decodeNewKeyRequest(json)).toMatchObject({ ok: false, issues: [{ pointer: '', code: 'type' }] });
});

test('a description that is too long for the database is refused', () => {
  const outcome = decodeNewKeyRequest({ role: 'admin', description: 'the lap\0top' });
  expect(outcome).toMatchObject({ ok: false, issues: [{ pointer: '/description' }] });
});
