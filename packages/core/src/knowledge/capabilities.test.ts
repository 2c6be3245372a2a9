import { expect, test } from 'vitest';
import { memoryStore } from '../../test-support/memory-store.ts';
import { TestClock } from '../../test-support/test-clock.ts';
import { NO_PERMISSIONS, type Permissions, type Principal } from '../call/principal.ts';
import { KnowledgeBases } from './bases.ts';
import { capabilitiesOf } from './capabilities.ts';

const bases = new KnowledgeBases({ store: memoryStore().knowledge, clock: new TestClock() });
await bases.put({ id: 'open', agents: ['*'], documents: [{ id: 'a', text: 'A.' }] });
await bases.put({ id: 'adas', description: 'hers', agents: ['ada'], documents: [] });
await bases.put({ id: 'nobodys', agents: [], documents: [] });

const shop = { id: 'shop', base_url: 'https://shop.example', description: 'A shop.', endpoints: [] };
const bank = { ...shop, id: 'bank' };
const apis = { version: 1, list: () => [shop, bank], find: () => undefined };
const credential = { type: 'bearer-token', description: null, hosts: ['shop.example'], value: 'the secret' };
const credentials = { list: () => ['shop-key', 'bank-key'].map((id) => ({ id, ...credential })) };

function of(id: string, permissions: Partial<Permissions>) {
  const principal: Principal = { id, kind: 'agent', permissions: { ...NO_PERMISSIONS, ...permissions } };
  return capabilitiesOf(principal, { apis, bases, credentials });
}

test('a caller sees what it may use and nothing else', () => {
  expect(of('ada', { apis: ['shop'], credentials: ['shop-key'], operations: ['Wait', 'Loop', 'NoSuch'] })).toEqual({
    agent_id: 'ada',
    capabilities: {
      availableApis: [{ id: 'shop', base_url: 'https://shop.example', description: 'A shop.', endpoints: [] }],
      apis: { shop: { base_url: 'https://shop.example', description: 'A shop.', endpoints: [] } },
      availableCredentials: [
        {
          id: 'shop-key',
          type: 'bearer-token',
          description: null,
          hosts: ['shop.example'],
          usage: { credentialRef: { id: 'shop-key' } },
        },
      ],
      supportedOperations: ['Loop', 'Wait'],
      knowledgeBases: [
        { id: 'open', description: null, documents: 1 },
        { id: 'adas', description: 'hers', documents: 0 },
      ],
      securityConstraints: { maxExecutionTime: 30_000, maxOperations: 20 },
    },
  });
});

test('the places of a credential are listed when they are more than a header', () => {
  const placed = {
    list: () => [['header'], ['header', 'body']].map((places, at) => ({ id: `key-${at}`, ...credential, places })),
  };
  const principal: Principal = { id: 'ada', kind: 'agent', permissions: { ...NO_PERMISSIONS, credentials: ['*'] } };
  const listed = capabilitiesOf(principal, { apis, bases, credentials: placed }).capabilities.availableCredentials;
  expect(listed.map(({ places }) => places)).toEqual([undefined, ['header', 'body']]);
});

test('empty lists are nothing, and a star is everything', () => {
  const nothing = of('eve', {}).capabilities;
  expect(nothing).toMatchObject({ availableApis: [], apis: {}, availableCredentials: [], supportedOperations: [] });
  const everything = of('eve', { apis: ['*'], credentials: ['*'], operations: ['*'] }).capabilities;
  expect(everything.availableApis.map(({ id }) => id)).toEqual(['shop', 'bank']);
  expect(everything.supportedOperations).toHaveLength(21);
  expect(everything.availableCredentials).toHaveLength(2);
});

test('the value of a credential is not listed, even where the catalogue has it at hand', () => {
  expect(JSON.stringify(of('eve', { credentials: ['*'] }))).not.toContain('the secret');
});
