import { describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../scripts/conformance.ts';
import { DIALECTS, dialectNamed, dialectOf } from './dialects.ts';

describe('the dialects together', () => {
  test.each(DIALECTS.map((dialect) => dialect.name))('%s has its share of conformance data', (name) => {
    expect(loadFixtures(name, 'accept').length).toBeGreaterThanOrEqual(40);
    expect(loadFixtures(name, 'reject').length).toBeGreaterThanOrEqual(60);
  });

  const messages = DIALECTS.flatMap((dialect) =>
    loadFixtures(dialect.name, 'accept').map((fixture) => ({ owner: dialect.name, ...fixture })),
  );

  test.each(messages)('$owner: $name is recognized by exactly one dialect', ({ owner, input }) => {
    expect(DIALECTS.filter((dialect) => dialect.recognizes(input)).map((dialect) => dialect.name)).toEqual([owner]);
    expect(dialectOf(input)?.name).toBe(owner);
  });

  test('a dialect is found by its name, and an unknown name is not', () => {
    for (const dialect of DIALECTS) expect(dialectNamed(dialect.name)).toBe(dialect);
    expect(dialectNamed('esperanto')).toBeUndefined();
    expect(dialectOf({ hello: 'world' })).toBeUndefined();
  });

  test.each(DIALECTS.map((dialect) => dialect.name))('every case of %s names its rule and the reason', (name) => {
    for (const kind of ['accept', 'reject', 'convert'] as const) {
      for (const fixture of loadFixtures(name, kind)) {
        expect(fixture.spec, `${kind}/${fixture.name}`).toMatch(/\S/);
        expect(fixture.why, `${kind}/${fixture.name}`).toMatch(/\S{2,} \S/);
      }
    }
  });
});
