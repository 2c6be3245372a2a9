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
 * A data folder for a host without one of its own. A host that is killed can neither remove the folder nor end its child processes, so
 * the folder's name has the pid, and the next host cleans up. The first place that only this user can access is used.
 */
export function temporaryFolder({ places, log }: { places: readonly string[]; log: Log }): TemporaryFolder {
  const place = places.find(isOurs);
  if (place === undefined) {
    const expected = 'a folder of this user that no other user can access';
    log.warn(
      { places, expected },
      'no private temporary folder: child processes will keep running if this host is killed',
    );
  } else removeLeftOvers(place, log);
  const path = mkdtempSync(join(place ?? tmpdir(), beginningOf(process.pid)));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function removeLeftOvers(place: string, log: Log): void {
  for (const entry of readdirSync(place)) {
    const [, space, pid = '', startedAt = ''] = NAME.exec(entry) ?? [];
    // A folder of another pid namespace, such as another container, is left alone: its process may still run.
    if (space === undefined || space !== pidSpace()) continue;
    if (isRunning({ pid: Number(pid), startedAt }, bootId())) continue;
    const folder = join(place, entry);
    try {
      endOrphans({ folder: childrenFolder(folder), log });
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      // Another host may be removing it too. The host starts anyway.
      log.warn({ folder, error: String(error) }, 'the temporary folder of a killed host cannot be removed');
    }
  }
}

/** Files in this folder decide which processes are ended, so no other user may write to it. */
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

/** The pid namespace: a container has its own. */
function pidSpace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
  } catch {
    return undefined;
  }
}

const NAME = /^(\d+)-(\d+)-(\d+)-/;
