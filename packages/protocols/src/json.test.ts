import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { loadFixtures } from '../../../scripts/conformance.ts';
import { anyCharacter } from './framing/any-character.contract.ts';
import { isObject, type Json, parseJson, parseJsonBytes } from './json.ts';
import { explainText, type JsonLimits } from './json-explain.ts';
import { accept, reject } from './outcome.ts';
import { encodeUtf8 } from './platform.ts';

// Thousands of generated texts may take long on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

/** A case of `conformance/json`: text, or bytes where it is not text, and what must come of it. */
interface JsonFixture {
  readonly name: string;
  readonly text?: string;
  readonly base64?: string;
  readonly limits?: JsonLimits;
  readonly expect: { readonly value?: Json; readonly code?: string };
}

const accepted = loadFixtures('json', 'accept') as unknown as readonly JsonFixture[];
const rejected = loadFixtures('json', 'reject') as unknown as readonly JsonFixture[];

describe('texts it accepts', () => {
  test.each(accepted)('$name', (fixture) => {
    for (const outcome of outcomesOf(fixture)) {
      expect(outcome).toEqual({ ok: true, value: fixture.expect.value, warnings: [] });
    }
  });
});

describe('texts it refuses', () => {
  test.each(rejected)('$name', (fixture) => {
    for (const outcome of outcomesOf(fixture)) {
      expect(outcome).toEqual({ ok: false, issues: [expect.objectContaining(fixture.expect)] });
      const [issue] = outcome.ok ? [] : outcome.issues;
      // The expected, then the received text, in one printable line.
      expect(issue?.message).toMatch(/^expected [^;]+; [^;].*$/);
      expect(issue?.message).not.toMatch(/(?! )[\p{Cc}\p{Cf}\p{Z}]/u);
    }
  });
});

describe('the quick check and the exact one agree', () => {
  const agrees = (text: string, limits: JsonLimits = {}) => {
    const fault = explainText(text, limits);
    const expected = fault === undefined ? accept(JSON.parse(text) as Json) : reject(fault);
    const outcome = parseJson(text, limits);
    // `expect` is slow, and this is checked a hundred thousand times.
    if (!isDeepStrictEqual(outcome, expected)) expect(outcome, text).toStrictEqual(expected);
  };

  test('about every fixture with any one character taken away, doubled or replaced', () => {
    const replacements = ['"', '\\', ':', ',', '[', '}', '0', '-', 'e', '.', ' ', '\ud83d', '\n'];
    for (const { text } of [...accepted, ...rejected]) {
      if (text === undefined || text.length > 90) continue;
      for (let at = 0; at < text.length; at++) {
        const [before, character, after] = [text.slice(0, at), text[at] ?? '', text.slice(at + 1)];
        agrees(before + after);
        agrees(before + character + character + after);
        for (const other of replacements) agrees(before + other + after);
      }
    }
  });

  test('about any JSON with anything put somewhere into it', () => {
    const piece = fc.oneof(
      fc.constantFrom('"', '\\', '\\u', '\\ud83d', '\\ude00', '\ud83d', '\ude00', ':', ',', '{', '}', '[', ']'),
      fc.constantFrom(
        '-',
        '-0',
        '0',
        '.',
        'e',
        'E+',
        '1e400',
        '9007199254740993',
        'null',
        '\u2028',
        '\uFEFF',
        '\0',
        ' ',
      ),
      fc.constantFrom('"a":1,', '"\\u0061":1,', '"a" :', '{"a":1,"a":2}', '\\"', '\\\\'),
    );
    const spacing = fc.constantFrom(undefined, 1, '\t');
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), spacing, piece, fc.nat(), fc.nat(3), (value, space, put, at, drop) => {
        const text = JSON.stringify(value, null, space);
        const place = at % (text.length + 1);
        agrees(text.slice(0, place) + put + text.slice(place + drop));
        agrees(text.slice(0, place) + put + text.slice(place + drop), { numbers: 'exact', depth: 2 });
      }),
      { numRuns: 3000 },
    );
  });

  test('about as many values as fit into a text, and one more', () => {
    for (let items = 0; items < 40; items++) {
      const text = `[${Array(items).fill(0).join(',')}]`;
      agrees(text, { nodes: items + 1 });
      agrees(text, { nodes: items });
      agrees(`[${text}]`, { nodes: items + 1 });
      agrees(JSON.stringify('€'.repeat(items)), { stringBytes: 3 * items - 1 });
      agrees(JSON.stringify({ ['€'.repeat(items)]: 0 }), { keyBytes: 3 * items - 1 });
    }
  });

  test('about how much any JSON may hold', () => {
    const few = fc.integer({ min: 1, max: 12 });
    const limits = fc.record(
      { nodes: few, keyBytes: few, stringBytes: few, numberCharacters: few },
      { requiredKeys: [] },
    );
    const spacing = fc.constantFrom(undefined, 1);
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3, stringUnit: anyCharacter }), spacing, limits, (value, space, bounds) =>
        agrees(JSON.stringify(value, null, space), bounds),
      ),
      { numRuns: 3000 },
    );
  });

  test('about compact text in which something short makes room for something unsound', () => {
    const shorter = fc.constantFrom(
      '3e3',
      '12e3',
      '1E9',
      '-7e5',
      '3000',
      '12345678',
      '1774699200.25',
      '0.5',
      '""',
      '1e25',
    );
    const unsound = fc.constantFrom(
      '{"":0,"":0}',
      '{"a":"","\\u0061":""}',
      '"\\ud800"',
      '-0',
      '1e-400',
      '-1e-400',
      '4e-324',
      '1e400',
      '0.10000000000000009',
      '1774699200.2500001',
      '12345678.000000001',
      '999999999990999.99',
      '99999999999999.999',
      '9007199254740993',
      '{"":{"":0,"":0}}',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(shorter, unsound), { maxLength: 5 }), fc.nat(2), (items, spaces) => {
        agrees(`[${items.join(',')}]${' '.repeat(spaces)}`);
        agrees(`{${items.map((item, at) => `"${at}":${item}`).join(',')}}`);
      }),
      { numRuns: 5000 },
    );
  });

  test('about any string made of the characters of JSON', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"a"',
      '"\\u0061"',
      '"b',
      '1',
      '-0',
      '1.5',
      'true',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => agrees(tokens.join(''))),
      { numRuns: 3000 },
    );
  });

  test('about any string at all', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => agrees(text)));
    fc.assert(fc.property(fc.string(), (text) => agrees(text)));
  });

  test('about a raw lone surrogate beside an escape', () => {
    agrees('["\\u0041","\ud800"]');
    expect(parseJson('["\\u0041","\ud800"]')).toMatchObject({ ok: false, issues: [{ code: 'lone_surrogate' }] });
  });

  test('about bytes: what is UTF-8 is judged as its text, what is not is refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        const isUtf8 = Buffer.from(text).equals(bytes);
        if (isUtf8) expect(parseJsonBytes(bytes)).toEqual(parseJson(text));
        else expect(parseJsonBytes(bytes)).toMatchObject({ ok: false, issues: [{ code: 'not_utf8' }] });
      }),
      { numRuns: 2000 },
    );
  });
});

describe('what is written is read', () => {
  test('any value, compact or spaced, as text or as bytes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), fc.constantFrom(0, 2, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space);
        const expected = { ok: true, value: JSON.parse(text), warnings: [] };
        expect(parseJson(text)).toEqual(expected);
        expect(parseJsonBytes(encodeUtf8(text))).toEqual(expected);
      }),
    );
  });

  test('any double but -0, in the shortest form, with 17 digits and as an exponent', () => {
    const bits = fc
      .bigInt({ min: 0n, max: 2n ** 64n - 1n })
      .map((all) => new Float64Array(BigUint64Array.of(all).buffer)[0] ?? 0);
    fc.assert(
      fc.property(fc.oneof(bits, fc.double(), fc.integer()), (number) => {
        fc.pre(Number.isFinite(number) && !Object.is(number, -0));
        const texts = [JSON.stringify(number), number.toExponential(), number.toExponential(16).replace('e+', 'E')];
        for (const text of texts) expect(parseJson(`[${text}]`)).toEqual({ ok: true, value: [number], warnings: [] });
      }),
      { numRuns: 3000 },
    );
  });

  test('any whole number that is read back unchanged, and no other', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (whole) => {
        expect(parseJson(String(whole), { numbers: 'exact' }).ok).toBe(String(Number(whole)) === String(whole));
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.maxSafeInteger(), (whole) => {
        expect(parseJson(String(whole))).toMatchObject({ ok: true });
      }),
    );
  });

  test('an emoji as Python escapes it', () => {
    expect(parseJson('{"text":"hi \\ud83d\\ude00"}')).toMatchObject({ ok: true, value: { text: 'hi 😀' } });
  });
});

describe('a repeated key', () => {
  test('is refused at any depth, however it is spelled and spaced', () => {
    const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
    const key = fc.string({ unit: anyCharacter, maxLength: 6 });
    const scenario = fc.record({
      key,
      space,
      depth: fc.nat(20),
      inArray: fc.boolean(),
      other: fc.jsonValue({ maxDepth: 1 }),
    });
    fc.assert(
      fc.property(scenario, ({ key, space, depth, inArray, other }) => {
        const member = (name: string) => `${space}${name}${space}:${space}${JSON.stringify(other)}${space}`;
        const object = `{${member(JSON.stringify(key))},"between":0,${member(escaped(key))}}`;
        const [open, close] = inArray ? ['[', ']'] : ['{"level":', '}'];
        const text = open.repeat(depth) + object + close.repeat(depth);
        const outcome = parseJson(key === 'between' ? '{"between":1,"between":2}' : text);
        expect(outcome).toMatchObject({ ok: false, issues: [{ code: 'duplicate_key' }] });
      }),
    );
  });

  test('is refused even when a deeper object hides the difference in number', () => {
    expect(parseJson('{"a":{"b":1,"c":2},"a":{"d":1,"e":2}}')).toMatchObject({ issues: [{ pointer: '/a' }] });
  });
});

describe('nesting', () => {
  test.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
    ['both', '[{"a":', '}]'],
  ])('of %s is taken up to 64 and refused from 65 on', (_, open, close) => {
    const nested = (levels: number) => {
      const each = open.length > 5 ? 2 : 1;
      return `${open.repeat(levels / each)}1${close.repeat(levels / each)}`;
    };
    expect(parseJson(nested(64))).toMatchObject({ ok: true });
    expect(parseJson(nested(66))).toMatchObject({ ok: false, issues: [{ code: 'too_deep' }] });
  });

  test.each([['['], ['{"a":'], ['[[],{"a":']])('of 100,000 levels of %s is refused where the 65th opens', (open) => {
    const outcome = parseJson(open.repeat(100_000));
    if (outcome.ok) expect.unreachable();
    expect(outcome.issues).toMatchObject([{ code: 'too_deep' }]);
    expect(outcome.issues[0]?.offset).toBeLessThan(65 * open.length);
  });

  test('a limit set high does not make us recurse: what the text does is what counts', () => {
    expect(parseJson('['.repeat(5_000_000), { depth: 1000 })).toMatchObject({
      issues: [{ code: 'too_deep', offset: 1000 }],
    });
  });
});

describe('names every object has', () => {
  test('are own members of the value and touch nothing else', () => {
    const before = Object.getOwnPropertyNames(Object.prototype).join();
    const outcome = parseJson('{"__proto__":{"polluted":1},"a":{"constructor":{"prototype":{"polluted":1}}}}');
    if (!outcome.ok || !isObject(outcome.value)) return expect.unreachable();
    expect(Object.hasOwn(outcome.value, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(outcome.value)).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.getOwnPropertyNames(Object.prototype).join()).toBe(before);
  });

  test('given to every object by somebody else make us look closer, never fail', () => {
    const outcomes = withIntruder(() => ['{"a":{"b":1}}', '{"a":1,"a":2}'].map((text) => parseJson(text).ok));
    expect(outcomes).toEqual([true, false]);
  });
});

test('isObject is for objects that are neither arrays nor null', () => {
  expect([{}, Object.create(null), [], null, 'a', 1, undefined].map(isObject)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

/** From text and from its bytes, which must not differ; from bytes alone if they are not text. */
function outcomesOf({ text, base64, limits }: JsonFixture) {
  if (text === undefined) return [parseJsonBytes(Buffer.from(base64 ?? '', 'base64'), limits)];
  return [parseJson(text, limits), parseJsonBytes(encodeUtf8(text), limits)];
}

/** Runs while every object inherits a member that `for in` lists, as some libraries cause. */
function withIntruder<T>(run: () => T): T {
  Object.defineProperty(Object.prototype, 'intruder', { value: 1, enumerable: true, configurable: true });
  try {
    return run();
  } finally {
    Reflect.deleteProperty(Object.prototype, 'intruder');
  }
}

/** The string with every unit written as an escape. */
function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, '0'));
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
}

describe('how many values a text may hold', () => {
  test('whatever fits into 64 KiB is taken, however many values that is', () => {
    const text = `[${Array(32_767).fill(1).join(',')}]`;
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(parseJson(text).ok).toBe(true);
    expect(parseJson(`[${Array(21_845).fill('[]').join(',')}]`).ok).toBe(true);
  });

  test('a longer text may hold one for every 8 characters, and never more than 200,000', () => {
    const ofWidth = (count: number, width: number) => `[${Array(count).fill('1'.repeat(width)).join(',')}]`;
    expect(parseJson(ofWidth(190_000, 8)).ok).toBe(true);
    expect(codeOf(parseJson(ofWidth(190_000, 4)))).toBe('too_many');
    expect(codeOf(parseJson(ofWidth(200_000, 12)))).toBe('too_many');
    expect(parseJson(ofWidth(199_999, 12)).ok).toBe(true);
  });

  test('a caller may allow more, or less', () => {
    const text = `[${Array(250_000).fill('[]').join(',')}]`;
    expect(parseJson(text, { nodes: 250_001 }).ok).toBe(true);
    expect(codeOf(parseJson(text, { nodes: 250_000 }))).toBe('too_many');
    expect(codeOf(parseJson('[1,2]', { nodes: 2 }))).toBe('too_many');
  });

  test('is never counted too low, whatever the text and its white space', () => {
    const spaced = fc.constantFrom('', ' ', '\n', '\t ');
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), spaced, (json, space) => {
        const written = json.replaceAll(/(?<=[[{,])(?=[[{\d])/g, space);
        const text = `[${written}${' '.repeat(65_536)}]`;
        const nodes = 1 + nodesOf(JSON.parse(json));
        if (!parseJson(text, { nodes }).ok) expect(codeOf(parseJson(text, { nodes })), text).not.toBe('too_many');
        expect(parseJson(text, { nodes: nodes - 1 }).ok).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  test('is known before anything is parsed', () => {
    const parse = vi.spyOn(JSON, 'parse');
    try {
      expect(codeOf(parseJson(`[${Array(1_000_000).fill('[]').join(',')}]`))).toBe('too_many');
      expect(codeOf(parseJson('['.repeat(1_000_000)))).toBe('too_deep');
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });

  test('a long text may have 10,000 different keys, each as often as it likes', () => {
    const objects = (count: number, different: number) =>
      JSON.stringify(Array.from({ length: count }, (_, at) => ({ [`key-${at % different}`]: 'some text' })));
    expect(parseJson(objects(40_000, 10_000)).ok).toBe(true);
    expect(codeOf(parseJson(objects(40_000, 10_001)))).toBe('too_many');
    expect(parseJson(objects(40_000, 10_001), { keys: 10_001 }).ok).toBe(true);
  });
});

function codeOf(outcome: ReturnType<typeof parseJson>): string | undefined {
  return outcome.ok ? undefined : outcome.issues[0]?.code;
}

function nodesOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + nodesOf(item as Json), 1);
}
