import { readFileSync } from 'node:fs';

/** Whether a process lives. One that has ended and was not waited for does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
