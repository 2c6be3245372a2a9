import { readFileSync } from 'node:fs';

/**
 * Milliseconds of processor time the main thread has had: the longest it can have held its event loop, however busy the
 * machine is. Where the system does not report it, waiting for a core counts as well.
 */
export function mainThreadMs(): number {
  try {
    const [ran = ''] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(ran) / 1e6;
  } catch {
    return performance.eventLoopUtilization().active;
  }
}
