import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { CARD, handshake, heading, query, request, signed, signingCaller } from './a2a-peer.ts';
import { type Answer, TRANSPORTS, type TransportName, wordOf } from './a2a-transports.ts';
import { agentModule, System } from './system.ts';

// The spec's quick-reference table and its validation checklist, row by row, at every endpoint of a real server. Every message is
// signed, because that is the proof all three take.

const system = await System.start({
  config: {
    agents: { echo: { driver: 'module', module: agentModule('echo'), max_parallel: 64 } },
    messages: { port: 0, unproven_per_minute: 1_000_000 },
  },
});
afterAll(() => system[Symbol.asyncDispose]());

const ada = await signingCaller(system, 'ada-agent');
const ID = 'a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40';

/** A good message of each type. */
const GOOD: Readonly<Record<string, () => JsonObject>> = {
  request: () => request({ content: 'hello' }),
  response: () => answer('response', { status: 'success', data: {} }),
  handshake: () => handshake(),
  handshake_ack: () => answer('handshake_ack', { agent_card: CARD }),
  error: () => answer('error', { error: { code: 'TIMEOUT', message: 'late' } }),
  discover_agents: () => query({}),
  agent_announcement: () => ({
    ...answer('agent_announcement', { agents: [], total_count: 0 }),
    sender_id: 'registry',
  }),
  goodbye: () => ({ ...heading('goodbye'), payload: {} }),
};

/** Type, the rule for `correlation_id`, and the type that answers it; `undefined` when it is itself an answer. */
const TABLE: readonly (readonly [type: string, correlation: 'null' | 'required', answeredBy: string | undefined])[] = [
  ['request', 'null', 'response'],
  ['response', 'required', undefined],
  ['handshake', 'null', 'handshake_ack'],
  ['handshake_ack', 'required', undefined],
  ['error', 'required', undefined],
  ['discover_agents', 'null', 'agent_announcement'],
  ['agent_announcement', 'required', undefined],
  ['goodbye', 'null', 'nothing'],
];

describe.each(Object.keys(TRANSPORTS) as TransportName[])('over %s', (transport) => {
  describe('Message Type Summary', () => {
    test.each(TABLE)('%s: correlation_id is %s', async (type, correlation, answeredBy) => {
      const good = GOOD[type]?.() ?? {};
      const received = await send(transport, good);
      // Only the registry can sign as the registry; an answer to no request of ours is not found. Both become problems,
      // because an answer gets no answer.
      expect(wordOf(received)).toBe(answeredBy ?? (type === 'agent_announcement' ? 'unauthenticated' : 'not_found'));
      if (answeredBy !== undefined && received !== undefined) {
        expect(received['correlation_id']).toBe(good['message_id']);
        expect(received['recipient_id']).toBe('ada-agent');
      }
      const wrong = { ...good, message_id: fresh(), correlation_id: correlation === 'null' ? ID : null };
      expect(issuesOf(await send(transport, wrong))).toContain('/correlation_id');
      const { correlation_id: _, ...without }: JsonObject = { ...good, message_id: fresh() };
      const left = await send(transport, without);
      if (correlation === 'required') expect(issuesOf(left)).toContain('/correlation_id');
      else expect(wordOf(left)).toBe(answeredBy);
    });
  });

  describe('Validation Checklist', () => {
    const base = () => request({ content: 'x' });

    test('valid JSON structure', async () => {
      for (const text of ['', '{', '[1,]', '{"a":1,"a":2}', '\uFEFF{}', '"text"']) {
        if (transport === 'tcp' && text === '') continue;
        const word = wordOf(await TRANSPORTS[transport](system, text));
        expect(['not_json', 'invalid_message'], text).toContain(word);
      }
    });

    test.each(['message_id', 'message_type', 'sender_id', 'recipient_id', 'timestamp', 'payload'])(
      'all required fields present: %s',
      async (field) => {
        const { [field]: _, ...rest } = signed(ada, base());
        const received = await TRANSPORTS[transport](system, JSON.stringify(rest));
        expect(issuesOf(received)).toContain(`/${field}`);
      },
    );

    const ROWS: readonly (readonly [row: string, pointer: string, change: (message: JsonObject) => JsonObject])[] = [
      [
        'message_id is UUID v4',
        '/message_id',
        (one) => ({ ...one, message_id: 'a7f8d9e2-3c4b-1d6e-8f8a-9b0c1d2e3f40' }),
      ],
      [
        'message_id is UUID v4',
        '/message_id',
        (one) => ({ ...one, message_id: 'a7f8d9e2-3c4b-5d6e-7f8a-9b0c1d2e3f4g' }),
      ],
      ['message_type is known value', '/message_type', (one) => ({ ...one, message_type: 'shout' })],
      ['timestamp is ISO 8601 UTC', '/timestamp', (one) => ({ ...one, timestamp: '2026-02-30T00:00:00Z' })],
      ['timestamp is ISO 8601 UTC', '/timestamp', (one) => ({ ...one, timestamp: '2026-11-16T04:00:00+01:00' })],
      ['timestamp is fresh: too old', '/timestamp', (one) => ({ ...one, timestamp: ago(301_000) })],
      ['timestamp is fresh: ahead', '/timestamp', (one) => ({ ...one, timestamp: ago(-62_000) })],
      ['sender_id valid format', '/sender_id', (one) => ({ ...one, sender_id: 'ada_agent' })],
      ['recipient_id valid format', '/recipient_id', (one) => ({ ...one, recipient_id: '-echo' })],
      ['payload structure matches type', '/payload/method', (one) => ({ ...one, payload: {} })],
      [
        'payload structure matches type',
        '/payload/parameters',
        (one) => ({ ...one, payload: { method: 'a', parameters: [] } }),
      ],
      ['no unexpected fields', '/priority', (one) => ({ ...one, priority: 1 })],
      ['no unexpected fields', '/payload/params', (one) => ({ ...one, payload: { method: 'a', params: {} } })],
      [
        'no unexpected fields',
        '/auth/alg',
        (one) => ({ ...one, auth: { ...(one['auth'] as JsonObject), alg: 'none' } }),
      ],
    ];
    test.each(ROWS)('%s (%s)', async (_row, pointer, change) => {
      const received = await TRANSPORTS[transport](system, JSON.stringify(change(signed(ada, base()))));
      expect(issuesOf(received)).toContain(pointer);
    });

    test('payload under size limit (10 MB)', async () => {
      const message = JSON.stringify(signed(ada, request({ content: 'x'.repeat(10 * 1024 * 1024) })));
      const received = await TRANSPORTS[transport](system, message).catch(() => undefined);
      expect(['too_large', 'line_too_long', 'nothing']).toContain(wordOf(received));
      expect(wordOf(await send(transport, base()))).toBe('response');
    });
  });
});

function answer(type: string, payload: JsonObject): JsonObject {
  return { ...heading(type), correlation_id: ID, payload };
}

/** Signed as ada, but sent in another name: no key signs for the registry. */
function send(transport: TransportName, message: JsonObject): Promise<Answer | undefined> {
  const sender = String(message['sender_id']);
  return TRANSPORTS[transport](system, JSON.stringify(signed({ ...ada, agentId: sender }, message)));
}

/** The pointers of what a message is refused for. */
function issuesOf(received: Answer | undefined): string[] {
  const { error } = (received?.['payload'] ?? {}) as { error?: { details?: { issues?: { pointer: string }[] } } };
  const issues = (received?.['issues'] as { pointer: string }[] | undefined) ?? error?.details?.issues ?? [];
  return issues.map(({ pointer }) => pointer);
}

function ago(milliseconds: number): string {
  return new Date(Date.now() - milliseconds).toISOString();
}

function fresh(): string {
  return String(heading('request')['message_id']);
}
