import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../../scripts/conformance.ts';
import * as validators from '../generated/a2a-mailbox.js';
import { isObject } from '../json.ts';
import { mailboxMessages } from './message.contract.ts';
import { normalise, supportedContentType, withRecipient } from './shorthand.ts';
import { findingsIn } from './validate.ts';

const now = new Date('2026-02-21T18:00:00.000Z');

describe('writing a message out', () => {
  test('changes nothing the second time, and gives the published shape', () => {
    fc.assert(
      fc.property(mailboxMessages, (input) => {
        const once = normalise(input);
        expect(normalise(once)).toEqual(once);
        expect(validators.Message(once), JSON.stringify(validators.Message.errors)).toBe(true);
        expect(findingsIn(once, now)).toEqual([]);
      }),
    );
  });

  test.each(loadFixtures('a2a-mailbox', 'accept'))('gives the published shape: $name', ({ input, expect: wanted }) => {
    if (!isObject(input) || (wanted as { envelope?: unknown }).envelope === null) return;
    expect(validators.Message(normalise(input)), JSON.stringify(validators.Message.errors)).toBe(true);
  });

  test('keeps every custom field, and none of them can stand in for a known one', () => {
    const metadata = { a: 1, toString: 'x', threadId: 't', hasOwnProperty: null };
    expect(normalise({ from: 'a', message: 'b', metadata }).metadata).toEqual({
      a: 1,
      toString: 'x',
      hasOwnProperty: null,
      messageId: null,
      timestamp: null,
      replyTo: null,
      threadId: 't',
      priority: 'normal',
      expiresAt: null,
    });
  });

  test('does not share its parts with the input', () => {
    const input = { from: { name: 'a' }, message: 'b', metadata: { custom: 1 } };
    const message = normalise(input);
    message.metadata['custom'] = 2;
    message.from.name = 'c';
    expect(input).toEqual({ from: { name: 'a' }, message: 'b', metadata: { custom: 1 } });
  });
});

describe('the recipient', () => {
  const mailbox = { name: 'Dragoman', agentId: 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:7' };
  const addressed = (to: string | null) => withRecipient(normalise({ from: 'a', to, message: 'b' }), mailbox).to;

  test('is this mailbox when no recipient is named', () => {
    expect(addressed(null)).toEqual(mailbox);
  });

  test('gets the agentId of this mailbox when its name is used', () => {
    expect(addressed('Dragoman')).toEqual(mailbox);
  });

  test('stays without an agentId when somebody else is named', () => {
    expect(addressed('desk')).toEqual({ name: 'desk', agentId: null });
  });

  test('is unchanged when it was given by agentId', () => {
    const to = { agentId: 'eip155:1:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432:1' };
    const message = normalise({ from: 'a', to, message: 'b' });
    expect(withRecipient(message, mailbox)).toBe(message);
  });
});

describe('a content type', () => {
  test.each([
    ['text/plain', 'text/plain'],
    ['text/plain;charset=utf-8', 'text/plain'],
    [' Text/Markdown ; variant=GFM', 'text/markdown'],
    ['application/json;', 'application/json'],
    ['application/jsonl', undefined],
    ['text', undefined],
    [';text/plain', undefined],
  ])('%j is read as %j', (given, type) => {
    expect(supportedContentType(given)).toBe(type);
  });
});
