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

test('each time in vain it lets twice as many go by, so that slow answers cost nearly nothing', () => {
  const { vigil, turns } = loop();
  const looked: number[] = [];
  let total = 0;
  for (let call = 0; call < 5000; call += 1) {
    vigil.begin({ isAlone: true });
    const count = turns();
    total += count;
    if (count > 0) looked.push(call);
  }
  expect(looked.slice(0, 6)).toEqual([0, 2, 6, 14, 30, 62]);
  // Never for good: answers may become quick.
  expect(Number(looked.at(-1)) - Number(looked.at(-2))).toBe(1024);
  expect(total).toBe(looked.length * 150);
});

test('one that comes in time makes up for all in vain', () => {
  const { vigil, turns } = loop();
  const looks = (comesAfter?: number) => {
    vigil.begin({ isAlone: true });
    return turns(comesAfter === undefined ? {} : { comesAfter }) > 0;
  };
  expect([looks(), looks(), looks(), looks(), looks(), looks()]).toEqual([true, false, true, false, false, false]);
  expect(looks(3)).toBe(true);
  expect([looks(3), looks(), looks(), looks()]).toEqual([true, true, false, true]);
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
