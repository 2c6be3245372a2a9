import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalPath, covers, fieldFault, formatPath, isPlainPath, type Path, parsePath } from './path.ts';
import { FieldText, PathText } from './value.ts';

describe('reading a path', () => {
  test('the three spellings of one place have the same keys', () => {
    const spellings = [
      '/workflow/users/0/name',
      '/workflow/users[0].name',
      '/workflow/users[0]/name',
      '/workflow/users.0.name',
    ];
    for (const text of spellings) {
      expect(path(text).keys).toEqual(['workflow', 'users', '0', 'name']);
      expect(canonicalPath(path(text))).toBe('/workflow/users/0/name');
      expect(formatPath(path(text))).toBe(text);
    }
  });

  test('a segment keeps both readings: one literal key, or its parts', () => {
    expect(path('/workflow/v1.2/list[3]').segments).toEqual([
      { literal: 'v1.2', parts: ['v1', '2'] },
      { literal: 'list[3]', parts: ['list', 3] },
    ]);
  });

  test.each([
    ['users', 'path_root'],
    ['workflow/users', 'path_root'],
    ['/workflows/users', 'path_root'],
    ['/workflow', 'path_root'],
    ['/workflow/', 'path_syntax'],
    ['/workflow//x', 'path_syntax'],
    ['/workflow/x/', 'path_syntax'],
    ['/workflow/a..b', 'path_syntax'],
    ['/workflow/.a', 'path_syntax'],
    ['/workflow/a.', 'path_syntax'],
    ['/workflow/a]', 'path_syntax'],
    ['/workflow/a[]', 'path_syntax'],
    ['/workflow/a[1', 'path_syntax'],
    ['/workflow/a[1]b', 'path_syntax'],
    ['/workflow/a[x]', 'path_syntax'],
    ['/workflow/a\u0000b', 'path_syntax'],
    ['/workflow/{a}', 'path_syntax'],
    ['/workflow/a[-1]', 'index_range'],
    ['/workflow/a[100001]', 'index_range'],
    ['/workflow/a[99999999999999999999]', 'index_range'],
    [`/workflow/${'a'.repeat(600)}`, 'too_long'],
    [`/workflow${'/a'.repeat(33)}`, 'too_long'],
    [`/workflow/a${'[0]'.repeat(40)}`, 'too_long'],
  ])('%s is refused: %s', (text, code) => {
    expect(parsePath(text)).toMatchObject({ ok: false, fault: { code } });
  });

  test.each(['__proto__', 'constructor', 'prototype'])('no spelling passes through %s', (name) => {
    for (const text of [
      `/workflow/${name}`,
      `/workflow/${name}/x`,
      `/workflow/a/${name}`,
      `/workflow/a.${name}.x`,
      `/workflow/${name}.x`,
      `/workflow/${name}[0]`,
      `/workflow/a[${name}]`,
      `/workflow/a["${name}"]`,
      `/workflow/a['${name}'].x`,
      `/store/${name}`,
      `/loop/item/${name}`,
    ]) {
      expect(parsePath(text), text).toMatchObject({ ok: false, fault: { code: 'forbidden_key' } });
      expect(isPlainPath(text), text).toBe(false);
    }
    expect(fieldFault(`a.${name}`)?.code).toBe('forbidden_key');
    expect(fieldFault(`a[${name}]`)?.code).toBe('forbidden_key');
    expect(fieldFault(`a/${name}`)?.code).toBe('forbidden_key');
  });

  test('a path without its root is refused with a suggestion', () => {
    expect(parsePath('users[0].name')).toMatchObject({
      fault: { suggestion: 'did you mean /workflow/users[0].name?' },
    });
  });

  test('names that only look dangerous are fine', () => {
    expect(parsePath('/workflow/protocols/constructors').ok).toBe(true);
    expect(fieldFault('prototypes')).toBeUndefined();
  });
});

describe('comparing paths', () => {
  test('a path covers itself and what lies below it, however spelled', () => {
    expect(covers(path('/workflow/users'), path('/workflow/users[0].name'))).toBe(true);
    expect(covers(path('/workflow/users[0]'), path('/workflow/users/0'))).toBe(true);
    expect(covers(path('/workflow/users/0'), path('/workflow/users'))).toBe(false);
    expect(covers(path('/workflow/user'), path('/workflow/users'))).toBe(false);
    expect(covers(path('/store/users'), path('/workflow/users'))).toBe(false);
  });
});

describe('any path', () => {
  const name = fc.stringMatching(/^[A-Za-z0-9_ é-]{1,8}$/).filter((text) => text.trim() !== '' && text !== '__proto__');
  const root = fc.constantFrom('workflow', 'store', 'loop');
  const canonical = fc
    .tuple(root, fc.array(name, { minLength: 1, maxLength: 6 }))
    .map(([first, names]) => `/${[first, ...names].join('/')}`);

  test('is written as it was read, when canonical', () => {
    fc.assert(
      fc.property(canonical, (text) => {
        expect(formatPath(path(text))).toBe(text);
        expect(canonicalPath(path(text))).toBe(text);
      }),
    );
  });

  test('gives an outcome, never an exception, and a written path reads the same again', () => {
    const wild = fc.stringMatching(/^\/(workflow|store|loop)?[a-c0-2./[\]_-]{0,20}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), wild), (text) => {
        const parsed = parsePath(text);
        if (!parsed.ok) return;
        expect(formatPath(parsed.path)).toBe(text);
        expect(path(canonicalPath(parsed.path)).keys).toEqual(parsed.path.keys);
      }),
      { numRuns: 2000 },
    );
  });

  test('fits the published pattern exactly when it is one', () => {
    const pattern = new RegExp(PathText.pattern);
    const wild = fc.stringMatching(
      /^\/(workflow|store|loop|x)([/.[\]]{1,2}(a|_b|0|12|100000|100001|-1|__proto__|constructor|prototypes|\{|))*$/,
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), wild, canonical), (text) => {
        if (text.length > 512) return;
        expect(pattern.test(text), text).toBe(parsePath(text).ok);
      }),
      { numRuns: 5000 },
    );
  });

  test('of a field fits its pattern exactly when nothing speaks against it', () => {
    const pattern = new RegExp(FieldText.pattern);
    const wild = fc.stringMatching(/^((a|__proto__|constructor|prototype|prototypes)[/.[\]]{0,2}){1,3}$/);
    fc.assert(
      fc.property(wild, (text) => {
        expect(pattern.test(text), text).toBe(fieldFault(text) === undefined);
      }),
      { numRuns: 2000 },
    );
  });

  test('that is quickly called plain is a path', () => {
    const nearly = fc.stringMatching(/^\/(workflow|store|loop|x)(\/[a-c_-]{0,3}(proto__|\.x)?){0,3}$/);
    fc.assert(
      fc.property(nearly, (text) => {
        if (isPlainPath(text)) expect(parsePath(text).ok).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

function path(text: string): Path {
  const parsed = parsePath(text);
  if (!parsed.ok) expect.unreachable(`${text}: ${parsed.fault.expected}`);
  return parsed.path;
}
