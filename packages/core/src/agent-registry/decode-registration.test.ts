import { expect, test } from 'vitest';
import { decodeRegistration } from './decode-registration.ts';

const NOW = new Date(Date.UTC(2026, 2, 28, 12));
const CARD = {
  agent_id: 'one-agent',
  name: 'One',
  version: '1.0.0',
  description: '',
  capabilities: ['read'],
  supported_protocols: ['A2A/1.0'],
};
const AT = 'https://one.example.com/a2a';

test('a card and an endpoint are a registration', () => {
  const decoded = decodeRegistration({ agent_card: CARD, endpoint: AT }, NOW);
  expect(decoded).toMatchObject({ ok: true, value: { agent_card: CARD, endpoint: AT } });
});

test.each([
  [
    'a card of more than 16 KiB',
    { agent_card: { ...CARD, metadata: { text: 'x'.repeat(17_000) } }, endpoint: AT },
    '/agent_card',
  ],
  ['the name of the registry', { agent_card: { ...CARD, agent_id: 'Registry' }, endpoint: AT }, '/agent_card/agent_id'],
  [
    'a description that is too long',
    { agent_card: { ...CARD, description: 'x'.repeat(501) }, endpoint: AT },
    '/agent_card/description',
  ],
  ['an endpoint with a password', { agent_card: CARD, endpoint: 'https://a:b@one.example.com' }, '/endpoint'],
  ['an endpoint that is a file', { agent_card: CARD, endpoint: 'file:///etc/passwd' }, '/endpoint'],
  ['no endpoint', { agent_card: CARD }, '/endpoint'],
  ['an endpoint that is a number', { agent_card: CARD, endpoint: 8888 }, '/endpoint'],
  ['no card', { endpoint: AT }, '/agent_card'],
  ['something else beside it', { agent_card: CARD, endpoint: AT, owner: 'eve' }, '/owner'],
  ['a list', [CARD], ''],
])('%s is refused by name', (_name, json, pointer) => {
  const decoded = decodeRegistration(json, NOW);
  expect(decoded.ok ? [] : decoded.issues.map((issue) => issue.pointer)).toContain(pointer);
});

test('a mistake in a card is reported once, with the nearest fix', () => {
  const decoded = decodeRegistration({ agent_card: { ...CARD, agent_id: 'one_agent' }, endpoint: AT }, NOW);
  expect(decoded.ok ? [] : decoded.issues).toMatchObject([
    { pointer: '/agent_card/agent_id', code: 'pattern', suggestion: expect.stringContaining('one-agent') },
  ]);
});
