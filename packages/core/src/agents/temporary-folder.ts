import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../ports/ports.ts';
import { endOrphans } from '../processes/orphans.ts';
import { bootId, isRunning, processNameOf } from '../processes/process-name.ts';
import { childrenFolder } from './stdio-agent.ts';

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/**
 * A data folder for a host that keeps nothing. One that is killed can neither remove it nor end its children, so it lies where
 * the next such host looks, under the name of the process it belongs to. The first place that is nobody else's is taken.
 */
export function temporaryFolder({ places, log }: { places: readonly string[]; log: Log }): TemporaryFolder {
  const place = places.find(isOurs);
  if (place === undefined) {
    const expected = 'a folder of this user that nobody else may enter';
    log.warn({ places, expected }, 'what this host leaves running when it is killed will not be ended by the next one');
  } else removeLeftOvers(place, log);
  const path = mkdtempSync(join(place ?? tmpdir(), beginningOf(process.pid)));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function removeLeftOvers(place: string, log: Log): void {
  for (const entry of readdirSync(place)) {
    const [, space, pid = '', startedAt = ''] = NAME.exec(entry) ?? [];
    // Where it cannot be told whether a process runs, as in another container, its folder is left alone.
    if (space === undefined || space !== pidSpace()) continue;
    if (isRunning({ pid: Number(pid), startedAt }, bootId())) continue;
    const folder = join(place, entry);
    try {
      endOrphans({ folder: childrenFolder(folder), log });
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      // Another host may be at it too. It is no reason not to start.
      log.warn({ folder, error: String(error) }, 'what a host that was killed has left cannot be removed');
    }
  }
}

/** What is written there says which processes are ended: nobody else may have a hand in it. */
function isOurs(place: string): boolean {
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const stat = lstatSync(place);
    const uid = process.getuid?.();
    return stat.isDirectory() && (uid === undefined || (stat.uid === uid && (stat.mode & 0o077) === 0));
  } catch {
    return false;
  }
}

function beginningOf(pid: number): string {
  const { startedAt } = processNameOf(pid);
  return `${pidSpace() ?? 'host'}-${pid}-${startedAt ?? 'unknown'}-`;
}

/** Which pids these are: a container has its own. */
function pidSpace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
  } catch {
    return undefined;
  }
}

const NAME = /^(\d+)-(\d+)-(\d+)-/;
