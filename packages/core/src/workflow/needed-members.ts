import { covers, OPERATIONS, type Path } from '@dragoman/protocols/a2e-workflow';
import type { Step } from './plan.ts';

/**
 * Of what is fetched as rows, the members that a plan reads: by the operation that fetches it, where those are all it reads.
 * What is told as a result needs no member, for it is the text that came.
 */
export function neededMembers(steps: readonly Step[]): ReadonlyMap<string, readonly string[]> {
  const needed = new Map<string, readonly string[]>();
  if (steps.some(isUnknown)) return needed;
  for (const { id, operation, output } of steps) {
    if (operation.callsApi !== true || output === undefined) continue;
    const names = new Set<string>();
    if (collect(output, steps, names)) needed.set(id, [...names].sort());
  }
  return needed;
}

/** What an operator's own operation reads nobody knows; and what runs others gives what those gave. */
function isUnknown({ type, uses }: Step): boolean {
  return !Object.hasOwn(OPERATIONS, type) || uses.targets.length > 0;
}

/** Adds the members that are read of items at a path, and wherever else they come to be. `false`: it may be anything. */
function collect(path: Path, steps: readonly Step[], names: Set<string>, seen: Path[] = []): boolean {
  if (seen.some((other) => isSame(other, path))) return true;
  seen.push(path);
  return steps.every(({ operation, config, uses, output }) => {
    if (uses.writes.some((write) => overlap(write.path, path) && !isSame(write.path, path))) return false;
    const reads = uses.reads.filter((read) => overlap(read.path, path));
    if (reads.length === 0) return true;
    if (!reads.every((read) => read.pointer === '/inputPath' && isSame(read.path, path))) return false;
    const read = operation.membersRead?.(config as never);
    if (read === undefined) return false;
    for (const name of read.names) names.add(name);
    return !read.keepsItems || output === undefined || collect(output, steps, names, seen);
  });
}

function overlap(one: Path, other: Path): boolean {
  return covers(one, other) || covers(other, one);
}

function isSame(one: Path, other: Path): boolean {
  return covers(one, other) && covers(other, one);
}
