import { describe, expect, test } from 'vitest';
import type { AgentCard } from './agent-card.ts';
import { a2aMessagesDialect as dialect } from './dialect.ts';
import type { A2AMessage } from './message.ts';
import {
  type MessagesSession,
  NEW_SESSION,
  receive,
  type SessionContext,
  sayGoodbye,
  startHandshake,
} from './session.ts';

const NOW = new Date('2026-03-28T12:00:30.000Z');

function cardOf(agentId: string, given: Partial<AgentCard> = {}): AgentCard {
  return {
    agent_id: agentId,
    name: agentId,
    version: '1.0.0',
    description: '',
    capabilities: ['request_response'],
    supported_protocols: ['A2A/1.0'],
    ...given,
  };
}

function contextOf(agentId: string, given: Partial<SessionContext> = {}): SessionContext {
  return { card: cardOf(agentId), stamp: { id: '0123456789abcdef0123456789abcdef', now: NOW }, ...given };
}

const server = contextOf('server-agent');
const client = contextOf('client-agent', { stamp: { id: 'fedcba98765432100123456789abcdef', now: NOW } });

/** A message of any type from the client; every one of them is valid. */
function from(sender: string, type: A2AMessage['message_type'], given: object = {}): A2AMessage {
  const answers = { correlation_id: 'a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40' };
  const parts = {
    request: { payload: { method: 'm' } },
    response: { payload: { status: 'success', data: {} }, ...answers },
    handshake: { payload: { agent_card: cardOf(sender) } },
    handshake_ack: { payload: { agent_card: cardOf(sender) }, ...answers },
    error: { payload: { error: { code: 'TIMEOUT', message: 'x' } }, ...answers },
    discover_agents: { recipient_id: 'registry', payload: {} },
    agent_announcement: { sender_id: 'registry', payload: { agents: [], total_count: 0 }, ...answers },
    goodbye: { payload: {} },
  };
  const json = {
    message_id: 'b8a9e0f3-4d5c-4e7f-8a9a-0c1d2e3f4a5b',
    message_type: type,
    sender_id: sender,
    recipient_id: 'server-agent',
    timestamp: NOW.toISOString(),
    correlation_id: null,
    ...parts[type],
    ...given,
  };
  const outcome = dialect.decode(json, NOW);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.issues));
  return outcome.value;
}

/** What `receive` does, with everything it sends checked to be a valid message. */
function step(session: MessagesSession, message: A2AMessage, context = server) {
  const result = receive(session, message, context);
  for (const sent of result.send)
    expect(dialect.decode(dialect.encode(sent), NOW)).toMatchObject({ ok: true, warnings: [] });
  return result;
}

const READY = step(NEW_SESSION, from('client-agent', 'handshake')).session;

describe('an incoming handshake', () => {
  test('is acknowledged with our card and what both speak', () => {
    const context = contextOf('server-agent', {
      card: cardOf('server-agent', {
        supported_protocols: ['A2A/1.0', 'A2A/1.10'],
        schema_versions: ['1.0.0', '1.1.0'],
      }),
    });
    const card = cardOf('client-agent', { supported_protocols: ['A2A/1.10', 'A2A/1.0'], schema_versions: ['1.1.0'] });
    const { session, send, verdict } = step(
      NEW_SESSION,
      from('client-agent', 'handshake', { payload: { agent_card: card } }),
      context,
    );
    expect(verdict).toBe('answered');
    expect(session).toEqual({
      state: 'ready',
      peer: card,
      protocol: 'A2A/1.10',
      schemaVersion: '1.1.0',
      opener: 'client-agent',
    });
    expect(send).toEqual([
      {
        message_id: '01234567-89ab-4def-8123-456789abcdef',
        message_type: 'handshake_ack',
        sender_id: 'server-agent',
        recipient_id: 'client-agent',
        timestamp: '2026-03-28T12:00:30.000Z',
        payload: {
          agent_card: context.card,
          negotiated_protocol: 'A2A/1.10',
          negotiated_schema_version: '1.1.0',
          accepted: true,
        },
        correlation_id: 'b8a9e0f3-4d5c-4e7f-8a9a-0c1d2e3f4a5b',
      },
    ]);
  });

  test('without a common version is answered by an error and closes', () => {
    const card = cardOf('client-agent', { supported_protocols: ['A2A/2.0'] });
    const { session, send, verdict, issue } = step(
      NEW_SESSION,
      from('client-agent', 'handshake', { payload: { agent_card: card } }),
    );
    expect({ state: session.state, verdict, code: issue?.code }).toEqual({
      state: 'closed',
      verdict: 'refused',
      code: 'version_mismatch',
    });
    expect(send).toMatchObject([
      {
        message_type: 'error',
        correlation_id: 'b8a9e0f3-4d5c-4e7f-8a9a-0c1d2e3f4a5b',
        payload: {
          error: {
            code: 'VERSION_NOT_SUPPORTED',
            message: 'No common protocol: this side supports A2A/1.0, the other side A2A/2.0.',
            details: { supported: ['A2A/1.0'] },
          },
        },
      },
    ]);
  });

  test('a second time agrees again', () => {
    const card = cardOf('client-agent', { name: 'renamed' });
    const { session, send } = step(READY, from('client-agent', 'handshake', { payload: { agent_card: card } }));
    expect(session).toMatchObject({ state: 'ready', peer: { name: 'renamed' } });
    expect(send).toMatchObject([{ message_type: 'handshake_ack' }]);
  });
});

describe('a handshake that goes out', () => {
  const { session: handshaking, send } = startHandshake(NEW_SESSION, 'server-agent', client);

  test('meets its acknowledgement, and both sides are ready', () => {
    expect(handshaking.state).toBe('handshaking');
    const atServer = step(NEW_SESSION, send[0]);
    const ack = atServer.send[0];
    if (ack === undefined) expect.unreachable();
    const atClient = step(handshaking, ack, client);
    expect(atClient).toMatchObject({ verdict: 'answered', send: [], session: { state: 'ready', protocol: 'A2A/1.0' } });
    expect(atServer.session.state).toBe('ready');
    expect(atClient.session.handshakeId).toBeUndefined();
  });

  test('that is refused closes', () => {
    const payload = { agent_card: cardOf('server-agent'), accepted: false, reason: 'full' };
    const ack = from('server-agent', 'handshake_ack', { correlation_id: send[0].message_id, payload });
    expect(step(handshaking, ack, client)).toMatchObject({
      verdict: 'refused',
      session: { state: 'closed' },
      issue: { code: 'refused', message: 'the other side refused the handshake: "full"' },
    });
  });

  test('that is acknowledged with a version we did not offer closes', () => {
    for (const agreed of [{ negotiated_protocol: 'A2A/9.9' }, { negotiated_schema_version: '9.0.0' }]) {
      const payload = { agent_card: cardOf('server-agent'), ...agreed };
      const ack = from('server-agent', 'handshake_ack', { correlation_id: send[0].message_id, payload });
      expect(step(handshaking, ack, client)).toMatchObject({
        verdict: 'refused',
        session: { state: 'closed' },
        issue: { pointer: `/payload/${Object.keys(agreed)[0]}`, code: 'version_mismatch' },
      });
    }
  });

  test('that is answered by an error closes', () => {
    const error = from('server-agent', 'error', { correlation_id: send[0].message_id });
    expect(step(handshaking, error, client)).toMatchObject({
      verdict: 'refused',
      session: { state: 'closed' },
      send: [],
    });
  });

  test("is not answered by another handshake's acknowledgement", () => {
    for (const session of [NEW_SESSION, handshaking, READY]) {
      expect(step(session, from('server-agent', 'handshake_ack'), client)).toMatchObject({
        verdict: 'refused',
        session,
        send: [],
        issue: { pointer: '/correlation_id', code: 'not_asked' },
      });
    }
  });

  test('may cross one of the other side, and is still answered', () => {
    const crossing = step(handshaking, from('server-agent', 'handshake'), client);
    expect(crossing).toMatchObject({
      verdict: 'answered',
      session: { state: 'ready' },
      send: [{ message_type: 'handshake_ack' }],
    });
    const ack = from('server-agent', 'handshake_ack', { correlation_id: send[0].message_id });
    expect(step(crossing.session, ack, client)).toMatchObject({ verdict: 'answered', session: { state: 'ready' } });
  });

  test('opens a connection, and only once', () => {
    expect(() => startHandshake(handshaking, 'server-agent', client)).toThrow('this one is handshaking');
  });
});

describe('other messages', () => {
  test.each(['request', 'discover_agents', 'response', 'agent_announcement', 'error'] as const)(
    'a %s is delivered when hands were shaken',
    (type) => {
      expect(step(READY, from('client-agent', type))).toEqual({ session: READY, send: [], verdict: 'deliver' });
    },
  );

  test.each(['request', 'discover_agents'] as const)(
    'a %s before a handshake is delivered, or refused by rule',
    (type) => {
      const message = from('client-agent', type);
      expect(step(NEW_SESSION, message).verdict).toBe('deliver');
      expect(step(NEW_SESSION, message, { ...server, requireHandshake: true })).toMatchObject({
        verdict: 'refused',
        session: { state: 'new' },
        issue: { code: 'handshake_first' },
        send: [
          {
            message_type: 'error',
            payload: { error: { code: 'SESSION_INVALID' } },
            correlation_id: message.message_id,
          },
        ],
      });
      expect(step(READY, message, { ...server, requireHandshake: true }).verdict).toBe('deliver');
    },
  );

  test.each(['request', 'discover_agents', 'handshake'] as const)(
    'a %s in the name of another agent than the one that opened the connection is forbidden',
    (type) => {
      expect(step(READY, from('other-agent', type))).toMatchObject({
        verdict: 'refused',
        session: READY,
        issue: { pointer: '/sender_id', code: 'sender_mismatch' },
        send: [{ message_type: 'error', recipient_id: 'other-agent', payload: { error: { code: 'FORBIDDEN' } } }],
      });
    },
  );

  test('answers may come from whomever the other side hosts', () => {
    expect(step(READY, from('other-agent', 'response')).verdict).toBe('deliver');
  });
});

describe('goodbye', () => {
  test('closes and is not answered', () => {
    for (const session of [NEW_SESSION, READY]) {
      expect(step(session, from('client-agent', 'goodbye'))).toMatchObject({
        verdict: 'answered',
        session: { state: 'closed' },
        send: [],
      });
    }
  });

  test('of another agent does not close', () => {
    expect(step(READY, from('other-agent', 'goodbye'))).toMatchObject({ verdict: 'refused', session: READY, send: [] });
  });

  test('is the last word: after it nothing is taken and nothing is sent', () => {
    const { session } = step(READY, from('client-agent', 'goodbye'));
    for (const type of ['handshake', 'request', 'response', 'goodbye', 'error'] as const) {
      expect(step(session, from('client-agent', type))).toMatchObject({ verdict: 'refused', session, send: [] });
    }
  });

  test('of ours is sent once', () => {
    const first = sayGoodbye(READY, 'client-agent', server, 'shutting down');
    expect(first.send).toMatchObject([{ message_type: 'goodbye', payload: { reason: 'shutting down' } }]);
    expect(sayGoodbye(first.session, 'client-agent', server).send).toEqual([]);
    for (const sent of first.send) expect(dialect.decode(dialect.encode(sent), NOW).ok).toBe(true);
  });
});
