import { generateKeyPairSync } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { type Pair, pair, request, signed } from './a2a-peer.ts';
import { TRANSPORTS, type TransportName, wordOf } from './a2a-transports.ts';
import { call } from './call.ts';
import { agentModule, System } from './system.ts';

// The proven identity, whatever is claimed: every signature × every name in it × every sender × every API key × every transport.

const system = await System.start({
  config: {
    agents: {
      whoami: { driver: 'module', module: agentModule('whoami'), max_parallel: 64 },
      slow: { driver: 'module', module: agentModule('load') },
    },
    messages: { port: 0, unproven_per_minute: 1_000_000 },
  },
});
afterAll(() => system[Symbol.asyncDispose]());

const keys = {
  own: pair(),
  next: pair(),
  revoked: pair(),
  others: pair(),
  unknown: pair(),
  'of another algorithm': pair(generateKeyPairSync('rsa', { modulusLength: 2048 })),
};
const ada = await put('ada-agent', keys.revoked.pem);
const eve = await put('eve-agent', keys.others.pem);
// From one key to the next, by way of both: what remains are the two that overlap.
await put('ada-agent', `${keys.own.pem}${keys.next.pem}`);

/** Which keys count for whom, as administration has put them down. */
const KEYS_OF: Readonly<Record<string, readonly Pair[]>> = {
  'ada-agent': [keys.own, keys.next],
  'eve-agent': [keys.others],
};
const SIGNATURES: Readonly<Record<string, Pair | undefined>> = { 'no signature': undefined, ...keys };
const NAMES = ['ada-agent', 'eve-agent', 'nobody-agent'];
const SENDERS = [...NAMES, undefined];
const API_KEYS: Readonly<Record<string, { id: string; key: string } | undefined>> = {
  none: undefined,
  "ada's": { id: 'ada-agent', key: ada },
  "eve's": { id: 'eve-agent', key: eve },
  "the operator's": { id: 'admin', key: system.adminKey },
};

describe.each(Object.keys(TRANSPORTS) as TransportName[])('over %s', (transport) => {
  const apiKeys = Object.entries(API_KEYS).filter(([, given]) => transport !== 'tcp' || given === undefined);

  test.each(apiKeys)('with the API key: %s', async (_name, given) => {
    const cases = Object.entries(SIGNATURES).flatMap(([kind, key]) =>
      SENDERS.flatMap((sender) =>
        (key === undefined ? [undefined] : NAMES).map((signer) => ({ kind, key, sender, signer })),
      ),
    );
    expect(cases.length).toBeGreaterThan(70);
    const found = await inBatches(cases, async (one) => {
      const message = messageOf(one);
      const received = await TRANSPORTS[transport](system, JSON.stringify(message), given?.key);
      const { data } = (received?.['payload'] ?? {}) as { data?: { caller: string } };
      return { ...named(one), answeredAs: data === undefined ? wordOf(received) : `answered ${data.caller}` };
    });
    expect(found).toEqual(cases.map((one) => ({ ...named(one), answeredAs: expected(one, given?.id) })));
  });
});

test('a removed key is refused over every transport at once', async () => {
  const [before, after] = [pair(), pair()];
  await put('brief-agent', before.pem);
  const send = (transport: TransportName, key: Pair) => {
    const unsigned = { ...request({ content: transport }), recipient_id: 'whoami' };
    const message = signed({ ...key, agentId: 'brief-agent', api_key: '' }, unsigned);
    return TRANSPORTS[transport](system, JSON.stringify(message)).then(wordOf);
  };
  for (const transport of Object.keys(TRANSPORTS) as TransportName[]) {
    expect(await send(transport, before), transport).toBe('response');
  }
  await put('brief-agent', after.pem);
  for (const transport of Object.keys(TRANSPORTS) as TransportName[]) {
    expect(await send(transport, before), transport).toBe('AUTHENTICATION_FAILED');
    expect(await send(transport, after), transport).toBe('response');
  }
});

test('an agent whose key is revoked while an answer is on its way does not get it', async () => {
  const [before, after] = [pair(), pair()];
  const key = await put('slow-asker', before.pem);
  const parameters = { content: 'one two three', pause_ms: 300 };
  const message = signed(
    { ...before, agentId: 'slow-asker', api_key: '' },
    { ...request(parameters), recipient_id: 'slow' },
  );
  const unsigned = TRANSPORTS.tcp(system, JSON.stringify(message));
  while (!(await isAccepted(String(message['message_id']), key))) await new Promise(setImmediate);
  await put('slow-asker', after.pem);
  expect(wordOf(await unsigned)).toBe('AUTHENTICATION_FAILED');
});

async function isAccepted(requestId: string, key: string): Promise<boolean> {
  const answer = await call(system.url, {
    path: `/e2a/requests/${requestId}/responses`,
    key,
    accept: 'application/x-ndjson',
  });
  answer.destroy();
  return answer.status === 200;
}

interface Case {
  readonly kind: string;
  readonly key: Pair | undefined;
  readonly sender: string | undefined;
  readonly signer: string | undefined;
}

/** What must come of it, worked out from the rules and nothing of the server's. */
function expected({ key, sender, signer }: Case, caller: string | undefined): string {
  if (sender === undefined) return 'invalid_message';
  if (key !== undefined && signer !== sender) return 'FORBIDDEN';
  if (caller !== undefined && caller !== 'admin' && caller !== sender) return 'FORBIDDEN';
  if (key !== undefined) return KEYS_OF[sender]?.includes(key) ? `answered ${sender}` : 'AUTHENTICATION_FAILED';
  return caller === undefined ? 'AUTHENTICATION_FAILED' : `answered ${caller}`;
}

function messageOf({ key, sender, signer }: Case): JsonObject {
  const plain: JsonObject = { ...request({ content: 'who am I' }), recipient_id: 'whoami', sender_id: sender ?? '' };
  if (key === undefined) return withoutSender(plain, sender);
  const whole = signed({ ...key, agentId: sender ?? signer ?? '', api_key: '' }, plain, { agent_id: signer ?? '' });
  return withoutSender(whole, sender);
}

function withoutSender({ sender_id: _, ...rest }: JsonObject, sender: string | undefined): JsonObject {
  return sender === undefined ? rest : { ...rest, sender_id: sender };
}

function named({ kind, sender, signer }: Case) {
  return { kind, sender, signer };
}

async function put(agentId: string, public_key: string): Promise<string> {
  const json = { agent_id: agentId, permissions: { agents: ['*'] }, public_key };
  const answer = await call(system.url, { method: 'POST', path: '/admin/v1/agents', key: system.adminKey, json });
  return ((await answer.json()) as { api_key?: string }).api_key ?? '';
}

async function inBatches<Item, Result>(items: readonly Item[], run: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += 32) {
    results.push(...(await Promise.all(items.slice(at, at + 32).map(run))));
  }
  return results;
}
