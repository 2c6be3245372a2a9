import { describe, expect, test } from 'vitest';
import * as validators from '../generated/a2a-mailbox.js';
import { agentCard, agentRegistration, type CardSource, MAILBOX_BINDING } from './card.ts';

const source: CardSource = {
  name: 'Dragoman',
  description: 'Joins agents.',
  url: 'https://agent.example/',
  version: '1.2.3',
  agentId: 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:18608',
  iconUrl: 'https://agent.example/icon.png',
  provider: { organization: 'Example', url: 'https://example.com' },
  skills: [{ id: 'echo', name: 'Echo', description: 'Says it back.', tags: ['demo'] }],
  supportedTrust: ['reputation'],
};

describe('the agent card', () => {
  test('has the shape that is published', () => {
    expect(validators.AgentCard(agentCard(source)), JSON.stringify(validators.AgentCard.errors)).toBe(true);
    expect(validators.AgentCard(agentCard({ name: 'a', description: '', url: 'http://a', version: '0' }))).toBe(true);
  });

  test('names the mailbox URL, under a binding that no client takes for Linux Foundation A2A', () => {
    expect(agentCard(source).supportedInterfaces).toEqual([
      { url: 'https://agent.example/a2a', protocolBinding: MAILBOX_BINDING, protocolVersion: '0.3.0' },
    ]);
  });

  test('claims no push of the other A2A, and lists its callbacks and limits separately', () => {
    const { capabilities } = agentCard(source);
    expect(capabilities).toMatchObject({ streaming: false, pushNotifications: false, stateTransitionHistory: false });
    expect(capabilities.extensions).toEqual([
      expect.objectContaining({
        required: false,
        params: { timeoutSeconds: 10, retries: 3, maxContentCharacters: 10_000, maxContentBytes: 10_240 },
      }),
    ]);
  });

  test('states the configured retries of callbacks', () => {
    const { capabilities } = agentCard({ ...source, callbacks: { timeoutSeconds: 2.5, retries: 7 } });
    expect(capabilities.extensions?.[0]?.params).toMatchObject({ timeoutSeconds: 2.5, retries: 7 });
  });

  test('takes everything about the agent from the operator', () => {
    expect(agentCard(source)).toMatchObject({
      name: 'Dragoman',
      version: '1.2.3',
      iconUrl: 'https://agent.example/icon.png',
      provider: { organization: 'Example', url: 'https://example.com' },
      skills: [{ id: 'echo' }],
      active: true,
      x402Support: false,
    });
  });

  test('contains the registration', () => {
    expect(agentCard(source)).toMatchObject(agentRegistration(source));
  });
});

describe('the registration', () => {
  test('has the shape that is published', () => {
    expect(validators.AgentRegistration(agentRegistration(source))).toBe(true);
  });

  test('splits the agentId into its registry and its number', () => {
    expect(agentRegistration(source).registrations).toEqual([
      { agentId: 18608, agentRegistry: 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432' },
    ]);
  });

  test('keeps a number too large for JSON readers as text', () => {
    const agentId = 'eip155:1:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:9007199254740993';
    expect(agentRegistration({ ...source, agentId }).registrations[0]?.agentId).toBe('9007199254740993');
  });

  test.each([null, undefined, 'not an id'])('lists none for an agent that has none (%s)', (agentId) => {
    expect(agentRegistration({ ...source, agentId: agentId ?? null }).registrations).toEqual([]);
  });
});
