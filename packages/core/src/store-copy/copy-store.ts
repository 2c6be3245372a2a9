import { isPostgresUrl } from '../store/postgres/postgres-url.ts';
import { StoreError } from '../store/store-error.ts';
import type { CopyEnd, CopyTarget } from './copy-end.ts';
import { type CopiedFamily, type CopyProgress, copyRows } from './copy-rows.ts';

export interface StorePlaces {
  /** `sqlite:FOLDER`, or the URL of a PostgreSQL database. */
  readonly from: string;
  readonly to: string;
}

/**
 * Copies everything from one store to another, verifies it, and returns what it copied. No server may have either of
 * them open. Continues a copy that was interrupted. Rejects with a `StoreError` that names the obstacle.
 */
export async function copyStore(
  { from, to }: StorePlaces,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<CopiedFamily[]> {
  await using source = await openSource(from);
  await using target = await openTarget(to);
  return await copyRows({ source, target }, onProgress);
}

async function openSource(place: string): Promise<CopyEnd> {
  if (isPostgresUrl(place)) return (await import('./postgres-copy.ts')).openPostgresSource(place);
  const folder = folderOf(place);
  return (await import('./sqlite-copy.ts')).openSqliteSource(folder);
}

async function openTarget(place: string): Promise<CopyTarget> {
  if (isPostgresUrl(place)) return (await import('./postgres-copy.ts')).openPostgresTarget(place);
  const folder = folderOf(place);
  return (await import('./sqlite-copy.ts')).openSqliteTarget(folder);
}

function folderOf(place: string): string {
  const folder = /^sqlite:(.+)$/.exec(place)?.[1];
  if (folder !== undefined) return folder;
  throw new StoreError(
    'store_unreachable',
    `${JSON.stringify(place)} is not a store. Write sqlite:FOLDER, or postgres://user@host/database?schema=dragoman.`,
  );
}
