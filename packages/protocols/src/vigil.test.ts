import { expect, test } from 'vitest';
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
  expect(alone.turns()).toBe(150);
  const among = loop();
  among.vigil.begin({ isAlone: false });
  expect(among.turns()).toBe(30);
});

test('each time in vain it lets more go by, so that slow answers cost nearly nothing', () => {
  const { vigil, turns } = loop();
  const looked: number[] = [];
  let total = 0;
  for (let call = 0; call < 5000; call += 1) {
    vigil.begin({ isAlone: true });
    const count = turns();
    total += count;
    if (count > 0) looked.push(call);
  }
  expect(looked.slice(0, 6)).toEqual([0, 4, 14, 36, 82, 176]);
  // Never for good: answers may become quick.
  expect(Number(looked.at(-1)) - Number(looked.at(-2))).toBe(1024);
  expect(total).toBe(looked.length * 150);
});

test('each time in time it lets half as many go by, until it looks every time', () => {
  const { vigil, turns } = loop();
  /** How many are let go by before it looks, for what comes in time or not. */
  const letBy = (comesAfter: number) => {
    for (let count = 0; ; count += 1) {
      vigil.begin({ isAlone: true });
      if (turns({ comesAfter }) > 0) return count;
    }
  };
  const never = Number.POSITIVE_INFINITY;
  expect([letBy(never), letBy(never), letBy(never)]).toEqual([0, 3, 9]);
  expect([letBy(3), letBy(3), letBy(3), letBy(3), letBy(3), letBy(3)]).toEqual([21, 10, 5, 2, 1, 0]);
  expect([letBy(3), letBy(never), letBy(3)]).toEqual([0, 0, 3]);
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
  expect(turns()).toBe(150);
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
