import { readFileSync } from 'node:fs';

/**
 * Returns the share of the processor that the host of this virtual machine has given to others since: it distorts measurements.
 * `undefined` where the system does not report it.
 */
export function watchStolen(): () => number | undefined {
  const before = ticks();
  return () => {
    const after = ticks();
    if (before === undefined || after === undefined) return undefined;
    return (after.stolen - before.stolen) / (after.all - before.all);
  };
}

/** Linux, proc(5): user, nice, system, idle, iowait, irq, softirq and steal, of all processors together. */
function ticks(): { all: number; stolen: number } | undefined {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const times = line.split(/ +/).slice(1, 9).map(Number);
    return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
  } catch {
    return undefined;
  }
}
