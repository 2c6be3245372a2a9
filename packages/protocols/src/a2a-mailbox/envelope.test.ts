import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type E2AEnvelope, newEnvelope } from '../e2a/envelope.ts';
import { newProvenance } from '../e2a/provenance.ts';
import { mailboxFromEnvelope, mailboxToEnvelope } from './envelope.ts';
import { mailboxMessages } from './message.contract.ts';
import { completed } from './message-id.ts';
import { normalise } from './shorthand.ts';

const stamp = { id: '0123456789abcdef0123456789abcdef', now: new Date('2026-02-21T18:00:00.000Z') };

describe('a message through the hub', () => {
  test('comes back whole, with nothing lost', () => {
    fc.assert(
      fc.property(mailboxMessages, (input) => {
        const message = completed(normalise(input), stamp);
        expect(mailboxFromEnvelope(mailboxToEnvelope(message), stamp)).toEqual({
          ok: true,
          value: message,
          warnings: [],
        });
      }),
    );
  });

  test('invents no id and no time', () => {
    expect(mailboxToEnvelope(normalise({ from: 'a', message: 'b' }))).toMatchObject({
      request_id: null,
      message_id: null,
      timestamp: null,
      provenance: { converted_at: null },
    });
  });
});

describe('an envelope sent to a mailbox', () => {
  const converted = (given: Partial<E2AEnvelope>) => {
    const outcome = mailboxFromEnvelope(newEnvelope({ source_agent_id: 'scout', ...given }), stamp);
    if (!outcome.ok) expect.unreachable(JSON.stringify(outcome.issues));
    return outcome;
  };
  const losses = (given: Partial<E2AEnvelope>) =>
    converted({ params: { content: 'x' }, ...given }).warnings.map(({ pointer, code }) => {
      expect(code).toBe('lost');
      return pointer;
    });

  test('gets an id and the time when it has none', () => {
    expect(converted({ params: { content: 'hi' } }).value).toMatchObject({
      messageId: 'msg_1771696800000_01234567',
      timestamp: '2026-02-21T18:00:00.000Z',
      from: { name: 'scout' },
      message: { contentType: 'text/plain', content: 'hi' },
    });
  });

  test('keeps its ids and its target', () => {
    const given = { request_id: 'r', message_id: 'r', correlation_id: 'c', session_id: 's', agent_ref: { id: 'desk' } };
    expect(converted({ ...given, params: { content: 'hi' } }).value).toMatchObject({
      messageId: 'r',
      to: { name: 'desk', agentId: null },
      metadata: { replyTo: 'c', threadId: 's' },
    });
  });

  test('is sent by its user when no agent sent it', () => {
    expect(converted({ source_agent_id: null, user_id: 'ann', params: { content: 'hi' } }).value.from.name).toBe('ann');
  });

  test('becomes text when its params are one text, and otherwise one JSON object', () => {
    expect(converted({ params: { query: 'what?' } }).value.message).toEqual({
      contentType: 'text/plain',
      content: 'what?',
    });
    expect(converted({ params: { text: 'what?' } }).value.message.content).toBe('what?');
    const params = { text: 'what?', lang: 'en' };
    expect(converted({ params }).value.message).toEqual({ contentType: 'application/json', content: params });
  });

  test('names its own method as the task', () => {
    const outcome = converted({ method: 'translate', params: { text: 'a', to: 'el' } });
    expect(outcome.value.metadata.taskType).toBe('translate');
    expect(outcome.warnings).toMatchObject([{ pointer: '/method', code: 'lost' }]);
  });

  test('without a sender and without content is refused for both', () => {
    expect(mailboxFromEnvelope(newEnvelope(), stamp)).toEqual({
      ok: false,
      issues: [
        {
          pointer: '/source_agent_id',
          code: 'required',
          message: 'source_agent_id is required but missing: a mailbox message names its sender',
        },
        {
          pointer: '/params/content',
          code: 'required',
          message: 'params.content is required but missing: a mailbox message has content',
        },
      ],
    });
  });

  test('that breaks a rule of the mailbox is refused where the envelope breaks it', () => {
    const envelope = newEnvelope({
      source_agent_id: 'a\nb',
      request_id: 'x'.repeat(501),
      params: { content: 'x'.repeat(10_001), expires_at: '2026-01-01T00:00:00Z' },
    });
    expect(mailboxFromEnvelope(envelope, stamp)).toMatchObject({
      ok: false,
      issues: [
        { pointer: '/params/content', code: 'too_long' },
        { pointer: '/params/expires_at', code: 'expired' },
        { pointer: '/source_agent_id', code: 'control_character' },
        { pointer: '/request_id', code: 'too_long' },
      ],
    });
  });

  test('cannot slip a field of the protocol in among its custom metadata', () => {
    const metadata = { taskType: 'sneaky', messageId: 'sneaky', kept: 1 };
    const { value } = converted({ request_id: 'r', params: { content: 'x', metadata } });
    expect(value.metadata).toMatchObject({ messageId: 'r', kept: 1 });
    expect(value.metadata).not.toHaveProperty('taskType');
  });

  test('loses nothing when it holds nothing more', () => {
    expect(losses({})).toEqual([]);
    expect(losses({ method: 'chat.send', identity_origin: 'agent', request_id: 'r', message_id: 'r' })).toEqual([]);
  });

  test.each<[string, Partial<E2AEnvelope>]>([
    ['/jsonrpc_id', { jsonrpc_id: 0 }],
    ['/task_id', { task_id: 't' }],
    ['/context_id', { context_id: 'c' }],
    ['/chat_id', { chat_id: 'c' }],
    ['/agent_id', { agent_id: 'a' }],
    ['/service_id', { service_id: 's' }],
    ['/workspace_key', { workspace_key: 'w' }],
    ['/ext_method', { ext_method: 'm' }],
    ['/session_update_kind', { session_update_kind: 'k' }],
    ['/is_stream', { is_stream: true }],
    ['/expected_output_modes', { expected_output_modes: ['text/plain'] }],
    ['/a2a_metadata', { a2a_metadata: { a: 1 } }],
    ['/acp_meta', { acp_meta: { a: 1 } }],
    ['/extras', { extras: { a: 1 } }],
    ['/params/temperature', { params: { content: 'x', temperature: 0.5 } }],
    ['/params/priority', { params: { content: 'x', priority: 'high' } }],
    ['/params/content_type', { params: { content: 'x', content_type: 'text/html' } }],
    ['/params/metadata', { params: { content: 'x', metadata: ['a'] } }],
    ['/params/metadata/threadId', { params: { content: 'x', metadata: { threadId: 'other', kept: 1 } } }],
    ['/agent_ref/mode', { agent_ref: { id: 'desk', mode: 'fast' } }],
    ['/channel_context/client', { channel_context: { client: 'tui' } }],
    ['/message_id', { request_id: 'r', message_id: 'm' }],
    ['/user_id', { user_id: 'ann' }],
    ['/method', { method: 'history.get' }],
    ['/channel', { channel: 'web' }],
    ['/identity_origin', { identity_origin: 'system' }],
    ['/provenance/details', { provenance: newProvenance({ source_protocol: 'acp', details: { a: 1 } }) }],
  ])('says that %s is lost', (pointer, given) => {
    expect(losses(given)).toEqual([pointer]);
  });

  test('takes a callback URL only from a mailbox, not from any channel context', () => {
    const channel_context = { from: { callbackUrl: 'https://victim.example/a2a' } };
    const foreign = converted({ params: { content: 'x' }, channel: 'web', channel_context });
    expect(foreign.value.from.callbackUrl).toBeNull();
    expect(foreign.warnings.map(({ pointer }) => pointer)).toEqual(['/channel_context/from', '/channel']);
    const own = converted({ params: { content: 'x' }, channel: 'a2a-mailbox', channel_context });
    expect(own.value.from.callbackUrl).toBe('https://victim.example/a2a');
  });
});
