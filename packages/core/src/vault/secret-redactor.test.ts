import { REDACTED } from '@dragoman/protocols';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SecretRedactor } from './secret-redactor.ts';

const SECRET = 'sk-4/ñ+"x&\\y z?ÿ€😀=Q';

/** Every form in which a service may return a secret. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'behind Bearer': (secret) => `Bearer ${secret}`,
  'percent-encoded': (secret) => encodeURIComponent(secret),
  'percent-encoded in lower case': (secret) => encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase()),
  'percent-encoded whole': (secret) => Buffer.from(secret).toString('hex').replace(/../g, '%$&'),
  'form-encoded': (secret) => new URLSearchParams({ secret }).toString(),
  'in base64': (secret) => Buffer.from(secret).toString('base64'),
  'in base64 behind one byte': (secret) => Buffer.from(`:${secret}`).toString('base64'),
  'in base64 behind two bytes': (secret) => Buffer.from(`a:${secret}:b`).toString('base64'),
  'in base64url': (secret) => Buffer.from(secret).toString('base64url'),
  'in base64url behind one byte': (secret) => Buffer.from(`:${secret}`).toString('base64url'),
  'in base64, percent-encoded': (secret) => encodeURIComponent(Buffer.from(secret).toString('base64')),
  'in base64, escaped for JSON as PHP does': (secret) => Buffer.from(secret).toString('base64').replaceAll('/', '\\/'),
  'in hex': (secret) => Buffer.from(secret).toString('hex'),
  'in HEX': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  'as JSON': (secret) => JSON.stringify({ secret }),
  'as JSON in ASCII': (secret) =>
    JSON.stringify(secret).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'as JSON, escaped whole': (secret) =>
    Array.from(
      { length: secret.length },
      (_, at) => `\\u${secret.charCodeAt(at).toString(16).padStart(4, '0').toUpperCase()}`,
    ).join(''),
  'as JSON inside JSON': (secret) => JSON.stringify({ got: JSON.stringify({ secret }) }),
  'as JSON in ASCII inside JSON': (secret) =>
    JSON.stringify(
      JSON.stringify(secret).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ),
  'in base64, in lines of 20': (secret) => inLines(base64(secret), '\n', 20),
  'in base64, in lines of 7 as mail has them': (secret) => inLines(base64(secret), '\r\n', 7),
  'in base64, in lines, as JSON': (secret) => JSON.stringify(inLines(base64(secret), '\r\n', 5)),
  'in base64, in lines, as JSON inside JSON': (secret) =>
    JSON.stringify(JSON.stringify(inLines(base64(secret), '\n', 5))),
  'in base64, in lines, with line breaks by number': (secret) => inLines(base64(secret), '\\u000d\\u000A', 5),
  'in base64, in indented lines': (secret) => inLines(base64(secret), '\n            ', 16),
  'in base64, in lines, percent-encoded': (secret) => encodeURIComponent(inLines(base64(secret), '\r\n', 9)),
  'in base64, in lines, as HTML': (secret) => inLines(base64(secret), '&#13;&#xa;', 9),
  'in base64, a blank behind each character': (secret) => inLines(base64(secret), ' ', 1),
  'in hex, by bytes': (secret) => inLines(Buffer.from(secret).toString('hex'), ' ', 2),
  'in hex, in lines': (secret) => inLines(Buffer.from(secret).toString('hex').toUpperCase(), '\n', 16),
  'in hex, in lines, as JSON': (secret) => JSON.stringify(inLines(Buffer.from(secret).toString('hex'), '\n', 3)),
  'by number as HTML': (secret) => byNumber(secret, (code) => `&#${code};`),
  'by hex number as HTML': (secret) => byNumber(secret, (code) => `&#x${code.toString(16)};`),
  'by HEX number as HTML': (secret) => byNumber(secret, (code) => `&#X${code.toString(16).toUpperCase()};`),
  'by number with zeros as HTML': (secret) => byNumber(secret, (code) => `&#${String(code).padStart(12, '0')};`),
  'by number without semicolons as HTML': (secret) => byNumber(secret, (code) => `&#${code}`),
  'by hex number with zeros, without semicolons as HTML': (secret) =>
    byNumber(secret, (code) => `&#x00${code.toString(16)}`),
  'in base64, by number as HTML': (secret) => byNumber(base64(secret), (code) => `&#0${code};`),
  'as HTML': (secret) => secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;'),
};

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function inLines(text: string, lineBreak: string, length: number): string {
  return text.replace(new RegExp(`.{${length}}(?=.)`, 'g'), `$&${lineBreak.replaceAll('$', '$$$$')}`);
}

function byNumber(text: string, written: (code: number) => string): string {
  return [...text].map((character) => written(character.codePointAt(0) ?? 0)).join('');
}

/** The middle of a form: its ends may depend on the text around the secret. */
function middleOf(form: string): string {
  return form.slice(4, -4);
}

describe.each(Object.entries(FORMS))('a secret %s', (_, form) => {
  test('is replaced in a text', () => {
    const text = `before ${form(SECRET)} after`;
    const clean = new SecretRedactor([SECRET]).text(text);
    expect(clean).toContain(REDACTED);
    expect(clean).not.toContain(middleOf(form(SECRET)));
    expect(clean.startsWith('before ')).toBe(true);
    expect(clean.endsWith(' after')).toBe(true);
  });

  test('is replaced in a body, wherever that is cut', async () => {
    const text = `before ${form(SECRET)} after`;
    const whole = new SecretRedactor([SECRET]).text(text);
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await redacted([bytes.subarray(0, cut), bytes.subarray(cut)])).toBe(whole);
    }
    expect(await redacted([...bytes].map((byte) => Uint8Array.of(byte)))).toBe(whole);
  });
});

test('a secret whose characters come in one byte each, as old header fields have them, is replaced', async () => {
  const secret = 'schlüssel-für-ÿ';
  expect(await redacted([Buffer.from(`a ${secret} b`, 'latin1')], secret)).toBe(`a ${REDACTED} b`);
});

test('any secret is found in any form, in any surroundings, in any pieces', async () => {
  const secrets = fc.string({ minLength: 16, maxLength: 60, unit: 'binary' }).map((text) => text.replaceAll('\0', '0'));
  const forms = fc.constantFrom(...Object.values(FORMS));
  await fc.assert(
    fc.asyncProperty(
      secrets,
      forms,
      fc.string(),
      fc.string(),
      fc.array(fc.nat(80), { maxLength: 9 }),
      async (...of) => {
        const [secret, form, before, after, cuts] = of;
        const text = `${before}\n${form(secret)}\n${after}`;
        const clean = await redacted(pieces(Buffer.from(text), cuts), secret);
        expect(clean).toContain(REDACTED);
        expect(clean).not.toContain(middleOf(form(secret)));
      },
    ),
    { numRuns: 600 },
  );
});

test('text without a secret stays unchanged, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(80)), async (bytes, cuts) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of new SecretRedactor([SECRET]).body(from(pieces(bytes, cuts)))) chunks.push(chunk);
      expect(Buffer.concat(chunks)).toEqual(Buffer.from(bytes));
    }),
  );
});

test('of two secrets the longer is replaced whole, however it is cut', async () => {
  const redactor = new SecretRedactor(['abcd-efgh', 'abcd']);
  for (let cut = 0; cut <= 9; cut += 1) {
    const chunks: Uint8Array[] = [];
    const text = Buffer.from('abcd-efgh');
    for await (const chunk of redactor.body(from([text.subarray(0, cut), text.subarray(cut)]))) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(REDACTED);
  }
});

test('nothing is held back but what may be the beginning of a secret', async () => {
  const seen: string[] = [];
  const body = new SecretRedactor([SECRET]).body(
    (async function* () {
      yield Buffer.from('{"text":"one"}\n');
      expect(seen).toEqual(['{"text":"one"}\n']);
      yield Buffer.from('two sk-4');
      expect(seen.at(-1)).toBe('two ');
      yield Buffer.from(' or not');
    })(),
  );
  for await (const chunk of body) seen.push(Buffer.from(chunk).toString());
  expect(seen.join('')).toBe('{"text":"one"}\ntwo sk-4 or not');
});

test.each(['%', '\\', '\\u00', '%7', 'k-4/', 's', '&#0', 'c\\n', '7\n', '&', ' ', 'c2 s', '73 '])(
  'many secrets cost the same as one for a body of %j',
  async (unit) => {
    const readsWith = async (secrets: readonly string[]): Promise<number> => {
      const { bytes, reads } = counted(Buffer.from(unit.repeat(1000)));
      for await (const _ of new SecretRedactor(secrets).body(from([bytes])));
      return reads();
    };
    const many = await readsWith(Array.from({ length: 50 }, (_, index) => `${SECRET}${index}`));
    expect(many).toBeLessThan(10 * unit.length * 1000);
    expect(many).toBeLessThanOrEqual(2 * (await readsWith([SECRET])));
  },
);

test.each([
  // Each of these is the beginning of the secret, and part of a line break that may stand between its characters.
  ['nnnnnnnn-in-base64', (secret: string) => Buffer.from(secret, 'base64').toString('latin1'), '\\n'],
  ['a0a0a0a0a0a0a0a0', (secret: string) => Buffer.from(secret, 'hex').toString('latin1'), '%0a'],
])('a body that begins %s again and again is read once', async (coded, secretOf, unit) => {
  const { bytes, reads } = counted(Buffer.from(unit.repeat(5000)));
  for await (const _ of new SecretRedactor([secretOf(coded)]).body(from([bytes])));
  expect(reads()).toBeLessThan(12 * unit.length * 5000);
});

test('a secret that is interrupted by more than a few lines of blanks is not looked for, and nothing is held for it', async () => {
  const seen: number[] = [];
  const body = new SecretRedactor([SECRET]).body(
    (async function* () {
      yield Buffer.from(base64(SECRET).slice(0, 8));
      for (let number = 0; number < 20; number += 1) yield Buffer.from('\n'.repeat(10));
      expect(seen.reduce((sum, length) => sum + length, 0)).toBeGreaterThan(150);
    })(),
  );
  for await (const chunk of body) seen.push(chunk.length);
  expect(seen.reduce((sum, length) => sum + length, 0)).toBe(208);
});

test('secrets that overlap are replaced together', () => {
  expect(new SecretRedactor(['abcd-efgh', 'efgh-ijkl']).text('x abcd-efgh-ijkl y')).toBe(`x ${REDACTED} y`);
  expect(new SecretRedactor(['abcd-abcd']).text('abcd-abcd-abcd')).toBe(REDACTED);
  expect(new SecretRedactor(['abcd']).text('abcdabcd')).toBe(`${REDACTED}${REDACTED}`);
});

/** Bytes that count how often one of them is read. */
function counted(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly reads: () => number } {
  let reads = 0;
  const proxy = new Proxy(bytes, {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { bytes: proxy, reads: () => reads };
}

async function redacted(chunks: readonly Uint8Array[], secret = SECRET): Promise<string> {
  const clean: Uint8Array[] = [];
  for await (const chunk of new SecretRedactor([secret]).body(from(chunks))) clean.push(chunk);
  return Buffer.concat(clean).toString();
}

async function* from(chunks: readonly Uint8Array[]) {
  yield* chunks;
}

function pieces(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const cuts = lengths.map((_, index) => lengths.slice(0, index + 1).reduce((sum, length) => sum + length, 0));
  return [0, ...cuts].map((cut, index) => bytes.subarray(cut, cuts[index] ?? bytes.length));
}
