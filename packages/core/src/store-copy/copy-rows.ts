import { createHash } from 'node:crypto';
import { StoreError } from '../store/store-error.ts';
import { type TableCopy, tableCopies } from './copied-tables.ts';
import type { CopyEnd, CopyQuery, CopyRow, CopyTarget } from './copy-end.ts';

/** The copied rows of one family, the same on both sides. */
export interface CopiedFamily {
  readonly family: string;
  readonly rows: number;
  /** SHA-256 of all its rows. */
  readonly checksum: string;
}

export interface CopyProgress {
  readonly family: string;
  readonly table: string;
  readonly step: 'copy' | 'verify';
  /** The rows copied or verified so far. */
  readonly rows: number;
}

/**
 * Copies everything, then reads both stores again and compares them. Rows are written in the order of their key, so an
 * interrupted copy is continued after its last row.
 */
export async function copyRows(
  { source, target }: { readonly source: CopyEnd; readonly target: CopyTarget },
  onProgress: (progress: CopyProgress) => void,
): Promise<CopiedFamily[]> {
  await target.begin(source.identity);
  const copies = await tableCopies(source, target);
  for (const { table, family, columns, from, to } of copies) {
    let rows = 0;
    for await (const batch of source.rows(from, await target.last(to))) {
      await target.insert(table, columns, batch);
      rows += batch.length;
      onProgress({ family, table, step: 'copy', rows });
    }
  }
  const families: CopiedFamily[] = [];
  for (const [family, tables] of grouped(copies)) {
    families.push(await verifiedFamily({ source, target, family, tables }, onProgress));
  }
  await target.finish();
  return families;
}

function grouped(copies: readonly TableCopy[]): Map<string, TableCopy[]> {
  const families = new Map<string, TableCopy[]>();
  for (const copy of copies) families.set(copy.family, [...(families.get(copy.family) ?? []), copy]);
  return families;
}

interface FamilyCopy {
  readonly source: CopyEnd;
  readonly target: CopyEnd;
  readonly family: string;
  readonly tables: readonly TableCopy[];
}

async function verifiedFamily(
  { source, target, family, tables }: FamilyCopy,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopiedFamily> {
  const whole = createHash('sha256');
  let rows = 0;
  for (const { table, from, to } of tables) {
    const [read, written] = [await digest(source, from), await digest(target, to)];
    if (read.rows !== written.rows || read.checksum !== written.checksum) {
      throw new StoreError(
        'store_damaged',
        `The copy of ${table} differs: ${read.rows} rows with the checksum ${read.checksum.slice(0, 12)} were read, and ` +
          `${written.rows} with ${written.checksum.slice(0, 12)} were written. Remove the copy and start again.`,
      );
    }
    whole.update(`${table} ${read.checksum}\n`);
    rows += read.rows;
    onProgress({ family, table, step: 'verify', rows });
  }
  return { family, rows, checksum: whole.digest('hex') };
}

async function digest(end: CopyEnd, query: CopyQuery): Promise<{ rows: number; checksum: string }> {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const batch of end.rows(query)) {
    for (const row of batch) hash.update(`${textOf(row)}\n`);
    rows += batch.length;
  }
  return { rows, checksum: hash.digest('hex') };
}

function textOf(row: CopyRow): string {
  return JSON.stringify(
    row.map((value) => (value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value)),
  );
}
