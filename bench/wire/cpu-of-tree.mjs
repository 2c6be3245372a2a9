import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds of CPU that this process and everything it started have used; `NaN` where the system does not report it. */
export function cpuOfTree() {
  const all = new Map();
  for (const name of names()) {
    const row = /^\d+$/.test(name) ? statOf(name) : undefined;
    if (row !== undefined) all.set(Number(name), row);
  }
  let total = all.size === 0 ? Number.NaN : 0;
  for (const [pid, { used }] of all) if (descends(pid, all)) total += used;
  return total;
}

function descends(pid, all) {
  let at = pid;
  while (at !== undefined && at !== process.pid) at = all.get(at)?.parent;
  return at === process.pid;
}

function names() {
  try {
    return readdirSync('/proc');
  } catch {
    return [];
  }
}

/** proc(5): after the name, which may contain anything, `state ppid …`, and the times at 14 and 15. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), used: (Number(fields[11]) + Number(fields[12])) * TICK };
  } catch {
    return undefined;
  }
}

const TICK = 10_000;
