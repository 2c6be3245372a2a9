import { setTimeout as pause } from 'node:timers/promises';

/** A thousand frames a second, twenty at a time, each by the clock: a late one does not delay the next. */
export default async function* flood({ params: { frames } }) {
  const start = performance.now();
  for (let number = 0; number < frames; number += 1) {
    yield `word ${number} `;
    if (number % 20 === 19) await pause(Math.max(0, start + number + 1 - performance.now()));
  }
  return { frames };
}
