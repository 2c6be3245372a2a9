import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../packages/protocols/src/json.ts';
import { DOORS, type DoorName, type Heard, wordOf } from './a2a-doors.ts';
import { CARD, handshake, heading, query, request, signed, signingCaller } from './a2a-peer.ts';
import { agentModule, System } from './system.ts';

// The spec's quick-reference table and its validation checklist, row by row, at every door of a real server. Every message is
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

describe.each(Object.keys(DOORS) as DoorName[])('over %s', (door) => {
  describe('Message Type Summary', () => {
    test.each(TABLE)('%s: correlation_id is %s', async (type, correlation, answeredBy) => {
      const good = GOOD[type]?.() ?? {};
      const heard = await send(door, good);
      // Nobody can sign as the registry but the registry; what answers nothing we asked is not found. Both are told as problems,
      // because nobody answers an answer.
      expect(wordOf(heard)).toBe(answeredBy ?? (type === 'agent_announcement' ? 'unauthenticated' : 'not_found'));
      if (answeredBy !== undefined && heard !== undefined) {
        expect(heard['correlation_id']).toBe(good['message_id']);
        expect(heard['recipient_id']).toBe('ada-agent');
      }
      const wrong = { ...good, message_id: fresh(), correlation_id: correlation === 'null' ? ID : null };
      expect(issuesOf(await send(door, wrong))).toContain('/correlation_id');
      const { correlation_id: _, ...without }: JsonObject = { ...good, message_id: fresh() };
      const left = await send(door, without);
      if (correlation === 'required') expect(issuesOf(left)).toContain('/correlation_id');
      else expect(wordOf(left)).toBe(answeredBy);
    });
  });

  describe('Validation Checklist', () => {
    const base = () => request({ content: 'x' });

    test('valid JSON structure', async () => {
      for (const text of ['', '{', '[1,]', '{"a":1,"a":2}', '\uFEFF{}', '"text"']) {
        if (door === 'tcp' && text === '') continue;
        const word = wordOf(await DOORS[door](system, text));
        expect(['not_json', 'invalid_message'], text).toContain(word);
      }
    });

    test.each(['message_id', 'message_type', 'sender_id', 'recipient_id', 'timestamp', 'payload'])(
      'all required fields present: %s',
      async (field) => {
        const { [field]: _, ...rest } = signed(ada, base());
        const heard = await DOORS[door](system, JSON.stringify(rest));
        expect(issuesOf(heard)).toContain(`/${field}`);
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
      const heard = await DOORS[door](system, JSON.stringify(change(signed(ada, base()))));
      expect(issuesOf(heard)).toContain(pointer);
    });

    test('payload under size limit (10 MB)', async () => {
      const message = JSON.stringify(signed(ada, request({ content: 'x'.repeat(10 * 1024 * 1024) })));
      const heard = await DOORS[door](system, message).catch(() => undefined);
      expect(['too_large', 'line_too_long', 'nothing']).toContain(wordOf(heard));
      expect(wordOf(await send(door, base()))).toBe('response');
    });
  });
});

function answer(type: string, payload: JsonObject): JsonObject {
  return { ...heading(type), correlation_id: ID, payload };
}

/** Signed as ada, but sent in another name: no key signs for the registry. */
function send(door: DoorName, message: JsonObject): Promise<Heard | undefined> {
  const sender = String(message['sender_id']);
  return DOORS[door](system, JSON.stringify(signed({ ...ada, agentId: sender }, message)));
}

/** The pointers of what a message is refused for. */
function issuesOf(heard: Heard | undefined): string[] {
  const { error } = (heard?.['payload'] ?? {}) as { error?: { details?: { issues?: { pointer: string }[] } } };
  const issues = (heard?.['issues'] as { pointer: string }[] | undefined) ?? error?.details?.issues ?? [];
  return issues.map(({ pointer }) => pointer);
}

function ago(milliseconds: number): string {
  return new Date(Date.now() - milliseconds).toISOString();
}

function fresh(): string {
  return String(heading('request')['message_id']);
}
