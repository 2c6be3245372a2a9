import { describe, expect, test } from 'vitest';
import { Vigil } from './vigil.ts';

/** A loop whose turns are counted; what it waits for comes in the turn it is told. */
function loop() {
  const next: (() => void)[] = [];
  const vigil = new Vigil((look) => next.push(look));
  /** Runs until nothing is looked for any more, and gives how many turns that took. */
  const turns = ({ comesAfter = Number.POSITIVE_INFINITY } = {}): number => {
    let count = 0;
    for (let look = next.shift(); look !== undefined; look = next.shift()) {
      expect(next).toEqual([]);
      look();
      count += 1;
      if (count === comesAfter) vigil.end();
      if (count > 10_000) throw new Error('it looks without end');
    }
    return count;
  };
  return { vigil, turns };
}

test('it looks until what it waits for has come, and no longer', () => {
  const { vigil, turns } = loop();
  for (let call = 0; call < 100; call += 1) {
    vigil.begin({ isAlone: true });
    expect(turns({ comesAfter: 40 })).toBe(41);
  }
});

test('it looks for a moment only when nothing comes, and for a shorter one among others', () => {
  const alone = loop();
  alone.vigil.begin({ isAlone: true });
  expect(alone.turns()).toBe(300);
  const among = loop();
  among.vigil.begin({ isAlone: false });
  expect(among.turns()).toBe(30);
});

test('each time in vain it lets more go by, so that slow answers cost little', () => {
  const { vigil, turns } = loop();
  const looked: number[] = [];
  let total = 0;
  for (let call = 0; call < 5000; call += 1) {
    vigil.begin({ isAlone: true });
    const count = turns();
    total += count;
    if (count > 0) looked.push(call);
  }
  expect(looked.slice(0, 6)).toEqual([0, 4, 14, 36, 82, 146]);
  // Never for good: answers may become quick.
  expect(Number(looked.at(-1)) - Number(looked.at(-2))).toBe(64);
  expect(total).toBe(looked.length * 300);
});

describe('how many are let go by', () => {
  const never = Number.POSITIVE_INFINITY;

  /** Before it looks, each time, for what comes in time or never. */
  function letBy(comes: readonly number[]): number[] {
    const { vigil, turns } = loop();
    return comes.map((comesAfter) => {
      for (let count = 0; ; count += 1) {
        vigil.begin({ isAlone: true });
        if (turns({ comesAfter }) > 0) return count;
      }
    });
  }

  test('is none when the last one was in time', () => {
    expect(letBy([never, never, never, 3, 3, 3])).toEqual([0, 3, 9, 21, 0, 0]);
    expect(letBy([3, never, 3, 3])).toEqual([0, 0, 3, 0]);
  });

  test('does not grow for one in vain among several in time', () => {
    expect(letBy([3, 3, 3, 3, never, 3, 3, 3, 3, never, 3])).toEqual(Array(11).fill(0));
    expect(letBy([3, 3, 3, never, 3])).toEqual([0, 0, 0, 0, 3]);
    expect(letBy([never, 3, 3, 3, 3, never, 3])).toEqual([0, 3, 0, 0, 0, 0, 0]);
  });

  test('grows all the same when what was quick is quick no longer', () => {
    expect(letBy([...Array(100).fill(3), ...Array(8).fill(never)]).slice(100)).toEqual([0, 0, 0, 0, 0, 3, 9, 21]);
  });
});

test('where as many come in time as do not, it looks seldom', () => {
  const { vigil, turns } = loop();
  let looks = 0;
  for (let call = 0; call < 10_000; call += 1) {
    vigil.begin({ isAlone: false });
    if (turns({ comesAfter: call % 2 === 0 ? 10 : Number.POSITIVE_INFINITY }) > 0) looks += 1;
  }
  expect(looks).toBeLessThan(4000);
});

test('who says more while it looks has it look from the start, once', () => {
  const { vigil, turns } = loop();
  vigil.begin({ isAlone: false });
  vigil.begin({ isAlone: true });
  expect(turns()).toBe(300);
});

test('what comes when nothing is looked for changes nothing', () => {
  const { vigil, turns } = loop();
  vigil.end();
  vigil.begin({ isAlone: true });
  turns();
  vigil.end();
  vigil.begin({ isAlone: true });
  expect(turns()).toBe(0);
});
