import { setTimeout as pause } from 'node:timers/promises';

/** Sends the time, a few times: long enough to be watched, interrupted and resumed. */
export default async function* clock(_envelope, { signal }) {
  const ticks = 5;
  for (let tick = 1; tick <= ticks; tick++) {
    if (tick > 1) await pause(400, undefined, { signal });
    yield `tick ${tick} of ${ticks}: ${new Date().toISOString()}\n`;
  }
  return { ticks };
}
