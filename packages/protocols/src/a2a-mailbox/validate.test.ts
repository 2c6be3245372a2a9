import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../../scripts/conformance.ts';
import type { AcceptExpect } from '../dialect.contract.ts';
import * as validators from '../generated/a2a-mailbox.js';
import { isObject, type JsonObject } from '../json.ts';
import { mailboxMessages } from './message.contract.ts';
import { errorTexts, findingsIn, isTolerated } from './validate.ts';

const now = new Date('2026-02-21T18:00:00.000Z');
const codesAt = (input: JsonObject) => findingsIn(input, now).map(({ pointer, code }) => `${pointer} ${code}`);

describe('a message within the rules', () => {
  test('has no findings, and the published input schema takes it', () => {
    fc.assert(
      fc.property(mailboxMessages, (input) => {
        expect(findingsIn(input, now)).toEqual([]);
        expect(validators.Input(input), JSON.stringify(validators.Input.errors)).toBe(true);
      }),
    );
  });
});

describe('a message over one limit', () => {
  const metadataWith = (input: JsonObject, member: JsonObject) => ({
    ...input,
    metadata: { ...(isObject(input['metadata']) ? input['metadata'] : {}), ...member },
  });
  const over = fc.integer({ min: 501, max: 2000 }).map((length) => 'x'.repeat(length));
  const control = fc
    .tuple(fc.constantFrom('\0', '\n', '\u001f', '\u007f', '\u0085', '\u2028', '\u2029'), fc.nat(3))
    .map(([character, at]) => `${'abc'.slice(0, at)}${character}z`);

  test('of content is refused by that rule alone', () => {
    const contents = fc.oneof(
      fc.integer({ min: 10_001, max: 30_000 }).map((length) => 'x'.repeat(length)),
      fc.integer({ min: 5121, max: 10_000 }).map((length) => 'é'.repeat(length)),
    );
    fc.assert(
      fc.property(mailboxMessages, contents, (input, content) => {
        expect(codesAt({ ...input, message: content })).toEqual(['/message too_long']);
        expect(codesAt({ ...input, message: { content } })).toEqual(['/message/content too_long']);
        expect(codesAt({ ...input, message: { content: { content } } })).toEqual(['/message/content too_long']);
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['too_long', over],
    ['control_character', control],
  ])('of a name or an id is refused by that rule alone: %s', (code, values) => {
    fc.assert(
      fc.property(mailboxMessages, values, (input, value) => {
        expect(codesAt({ ...input, from: value })).toEqual([`/from ${code}`]);
        expect(codesAt({ ...input, from: { name: value } })).toEqual([`/from/name ${code}`]);
        expect(codesAt({ ...input, to: value })).toEqual([`/to ${code}`]);
        expect(codesAt({ ...input, to: { name: value } })).toEqual([`/to/name ${code}`]);
        for (const field of ['replyTo', 'threadId', 'taskType']) {
          expect(codesAt(metadataWith(input, { [field]: value }))).toEqual([`/metadata/${field} ${code}`]);
        }
        const both = metadataWith({ ...input, messageId: value }, { messageId: value });
        expect(codesAt(both)).toEqual([`/metadata/messageId ${code}`]);
      }),
      { numRuns: 50 },
    );
  });

  test('of time is refused by that rule alone', () => {
    const past = fc.date({ min: new Date(0), max: now, noInvalidDate: true }).map((date) => date.toISOString());
    fc.assert(
      fc.property(mailboxMessages, past, (input, expiresAt) => {
        expect(codesAt(metadataWith(input, { expiresAt }))).toEqual(['/metadata/expiresAt expired']);
      }),
    );
  });
});

describe('the published input schema', () => {
  test.each(loadFixtures<AcceptExpect>('a2a-mailbox', 'accept'))('takes what needs no remark: $name', (fixture) => {
    const { input, expect: wanted, now: time } = fixture;
    if (!isObject(input) || wanted.envelope === null || wanted.warnings !== undefined) return;
    expect(findingsIn(input, time === undefined ? now : new Date(time))).toEqual([]);
    expect(validators.Input(input), JSON.stringify(validators.Input.errors)).toBe(true);
  });
});

describe('findings', () => {
  test('are worded for a 400 body by their sentences alone', () => {
    expect(errorTexts(findingsIn({ from: { agentId: 'x' }, metadata: { expiresAt: 'soon' } }, now))).toEqual([
      'from.name is required when from is an object',
      'Missing required field: message',
      'Invalid agentId format (expected CAIP-2: eip155:chainId:registry:tokenId)',
      'Invalid expiresAt format (must be ISO 8601)',
    ]);
  });

  test('name the received value and the fix where the sentence is the spec’s', () => {
    const suggestions = (input: JsonObject) => findingsIn(input, now).map(({ suggestion }) => suggestion);
    expect(suggestions({ from: { name: 'a', callbackUrl: 'http://a.example' }, message: 'b' })).toEqual([
      'got "http://a.example"; start it with https://',
    ]);
    expect(suggestions({ from: 'a', message: { contentType: 'text/plian', content: 'b' } })).toEqual([
      'got "text/plian"; did you mean text/plain?',
    ]);
    expect(suggestions({ from: 'a', message: 'b', metadata: { expiresAt: '2026-02-21T17:00:00Z' } })).toEqual([
      'it expired at "2026-02-21T17:00:00Z"; the time is now 2026-02-21T18:00:00.000Z',
    ]);
    expect(suggestions({ from: 'a', message: 'x'.repeat(10_001) })).toEqual([
      'got 10001 characters in 10001 bytes; at most 10240 bytes are allowed',
    ]);
  });

  test('are reported for a callback URL that is not text, whatever its members are named', () => {
    const callbackUrl = { toString: 1, valueOf: 2 };
    expect(findingsIn({ from: { name: 'a', callbackUrl }, message: 'b' }, now)).toMatchObject([
      { pointer: '/from/callbackUrl', suggestion: 'got an object with 2 members; use a string' },
    ]);
  });

  test('never repeat what may be a password', () => {
    const input = { from: { name: 'a', callbackUrl: 'https://me:hunter2@a.example' }, message: 'b' };
    expect(JSON.stringify(findingsIn(input, now))).not.toContain('hunter2');
  });

  test.each([
    [{ threadId: 't' }, 'move it to metadata.threadId'],
    [{ callbackURL: 'https://a.example' }, 'move it to from.callbackUrl'],
    [{ mesage: 'b' }, 'did you mean message?'],
    [{ colour: 'red' }, 'put colour into metadata, or leave it out'],
  ])('know where a stray field belongs: %j', (stray, suggestion) => {
    expect(findingsIn({ from: 'a', message: 'b', ...stray }, now)).toMatchObject([
      { code: 'unknown_field', suggestion },
    ]);
  });

  test('are tolerated always, only leniently, or never', () => {
    const tolerated = (code: string) =>
      [false, true].map((lenient) => isTolerated({ pointer: '', code, message: '' }, lenient));
    expect(tolerated('coerced')).toEqual([true, true]);
    for (const code of ['enum', 'version', 'unknown_field']) expect(tolerated(code)).toEqual([false, true]);
    for (const code of ['required', 'type', 'forbidden_key', 'expired', 'too_long', 'pattern', 'format']) {
      expect(tolerated(code)).toEqual([false, false]);
    }
  });
});
