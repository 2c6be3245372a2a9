import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { decodeUtf8 } from '../platform.ts';
import type { RequestMessage } from './message.ts';
import { FINGERPRINT, isStrictBase64, signedContent } from './signature.ts';

const message: RequestMessage = {
  message_id: 'a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40',
  message_type: 'request',
  sender_id: 'client-agent-001',
  recipient_id: 'crypto-agent-001',
  timestamp: '2025-12-09T15:30:00.000Z',
  payload: { method: 'get_price', parameters: { currency: 'BTC' } },
  correlation_id: null,
  auth: {
    agent_id: 'client-agent-001',
    timestamp: '2025-12-09T15:30:00.000Z',
    nonce: 'a1b2c3d4e5f678901234567890123456',
    signature: 'SGVsbG8gV29ybGQ=',
  },
};

function textOf(given: RequestMessage): string {
  const content = signedContent(given);
  if (!content.ok) expect.unreachable(JSON.stringify(content.issues));
  expect(decodeUtf8(content.value.bytes)).toBe(content.value.text);
  return content.value.text;
}

const withParameters = (parameters: unknown): RequestMessage => ({
  ...message,
  payload: { method: 'm', parameters: parameters as { [key: string]: Json } },
});
const parameters = fc.dictionary(fc.string(), fc.jsonValue());

describe('the signed content', () => {
  test('the whole message but the signature, with sorted keys and no white space', () => {
    expect(textOf(message)).toBe(
      '{"auth":{"agent_id":"client-agent-001","nonce":"a1b2c3d4e5f678901234567890123456","timestamp":"2025-12-09T15:30:00.000Z"},' +
        '"correlation_id":null,"message_id":"a7f8d9e2-3c4b-4d6e-8f8a-9b0c1d2e3f40","message_type":"request",' +
        '"payload":{"method":"get_price","parameters":{"currency":"BTC"}},"recipient_id":"crypto-agent-001",' +
        '"sender_id":"client-agent-001","timestamp":"2025-12-09T15:30:00.000Z"}',
    );
  });

  test('an absent correlation_id is covered as null', () => {
    const { correlation_id: _, ...bare } = message;
    expect(textOf(bare as RequestMessage)).toBe(textOf(message));
  });

  test('another signature over the same message covers the same', () => {
    const auth = { ...message.auth, signature: 'AAAA' } as NonNullable<typeof message.auth>;
    expect(textOf({ ...message, auth })).toBe(textOf(message));
  });

  test('numbers and text are written as RFC 8785 defines', () => {
    const text = textOf(withParameters({ '€': 1.0, a: 1e21, b: 0.000001, c: 333333333.3333333, d: '\u000f\n"€' }));
    expect(text).toContain('{"a":1e+21,"b":0.000001,"c":333333333.3333333,"d":"\\u000f\\n\\"€","€":1}');
  });

  test('half a surrogate pair has no canonical form', () => {
    for (const parameters of [{ a: '\ud800' }, { '\udc00': 1 }]) {
      expect(signedContent(withParameters(parameters))).toMatchObject({
        ok: false,
        issues: [{ code: 'not_canonical' }],
      });
    }
  });

  test('nesting deeper than the stack is refused, not thrown', () => {
    let deep: Json = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(signedContent(withParameters(deep)).ok).toBe(false);
  });

  test('the canonical form is a fixed point', () => {
    fc.assert(
      fc.property(parameters, (given) => {
        const text = textOf(withParameters(given));
        expect(textOf(JSON.parse(text) as RequestMessage)).toBe(text);
      }),
    );
  });

  test('the order of keys does not matter', () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, reversed(member)]),
      );
    };
    fc.assert(
      fc.property(parameters, (given) => {
        const whole = withParameters(given);
        expect(textOf(reversed(whole) as RequestMessage)).toBe(textOf(whole));
      }),
    );
  });

  test('any one member changed changes what is covered', () => {
    const places: readonly (readonly [string, (text: string) => object])[] = [
      ...(['message_id', 'message_type', 'sender_id', 'recipient_id', 'timestamp', 'correlation_id'] as const).map(
        (name) => [name, (text: string) => ({ ...message, [name]: text })] as const,
      ),
      ...(['agent_id', 'timestamp', 'nonce', 'public_key_fingerprint'] as const).map(
        (name) =>
          [`auth.${name}`, (text: string) => ({ ...message, auth: { ...message.auth, [name]: text } })] as const,
      ),
      ['payload', (text) => ({ ...message, payload: { ...message.payload, method: text } })],
      ['parameters', (text) => ({ ...message, payload: { ...message.payload, parameters: { currency: text } } })],
    ];
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.string(), ([name, change], text) => {
        expect(textOf(change(`changed ${text}`) as RequestMessage), name).not.toBe(textOf(message));
      }),
    );
  });
});

describe('Base64 of signatures', () => {
  test('whatever Node writes is taken', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 80 }), (bytes) => {
        expect(isStrictBase64(Buffer.from(bytes).toString('base64'))).toBe(true);
      }),
    );
  });

  test('of the last letter before the padding only the spellings without stray bits are taken', () => {
    for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
      for (const text of [`A${letter}==`, `AA${letter}=`, `AAA${letter}`]) {
        expect(isStrictBase64(text), text).toBe(Buffer.from(text, 'base64').toString('base64') === text);
      }
    }
  });

  test('a text is accepted only when encoding its bytes gives it back', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'ABQgw9+/=-_ \n'), maxLength: 9 });
    fc.assert(
      fc.property(letters, (text) => {
        const isCanonical = text !== '' && Buffer.from(text, 'base64').toString('base64') === text;
        expect(isStrictBase64(text)).toBe(isCanonical);
      }),
      { numRuns: 2000 },
    );
  });
});

test('a fingerprint is sha256 and 64 lower-case hex digits', () => {
  expect(FINGERPRINT.test(`sha256:${'0a'.repeat(32)}`)).toBe(true);
  for (const text of ['sha256:1234567890abcdef', `sha256:${'0A'.repeat(32)}`, `SHA256:${'0a'.repeat(32)}`, 'sha256:']) {
    expect(FINGERPRINT.test(text)).toBe(false);
  }
});
