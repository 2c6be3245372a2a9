import { crc32 } from 'node:zlib';
import type { EffectRow, Kept, StoredInfo, StoredQuota, StoredRow } from '../executions.ts';
import type { Held } from '../held.ts';
import type { Database } from '../sqlite-engine.ts';
import { requireStorable } from '../storable.ts';
import { StoreError } from '../store-error.ts';
import { effectRecorder } from './executions.ts';

export function storedDataReads(database: Database) {
  const byName = database.prepare(`${SELECT_STORED} WHERE owner = ? AND name = ?`);
  const names = database.prepare('SELECT name FROM stored_data WHERE owner = ? ORDER BY name');
  const infos = database.prepare(
    'SELECT name, bytes, updated_at AS "updatedAt" FROM stored_data WHERE owner = ? ORDER BY name',
  );
  const files = database.prepare('SELECT file FROM stored_data WHERE file IS NOT NULL ORDER BY file');

  return {
    findStored(owner: string, name: string): StoredRow | undefined {
      const row = byName.get(owner, name) as CheckedStored | undefined;
      return row === undefined ? undefined : checkedStored(row);
    },

    storedNames: (owner: string): string[] => (names.all(owner) as { name: string }[]).map(({ name }) => name),

    listStored: (owner: string): StoredInfo[] => infos.all(owner) as unknown as StoredInfo[],

    storedFiles: (): string[] => (files.all() as { file: string }[]).map(({ file }) => file),
  };
}

export function storedDataWrites(database: Database) {
  const byName = database.prepare(`${SELECT_STORED} WHERE owner = ? AND name = ?`);
  const held = database.prepare(
    'SELECT count(*) AS count, COALESCE(sum(bytes), 0) AS bytes FROM stored_data WHERE owner = ? AND name <> ?',
  );
  const put = database.prepare(`
    INSERT INTO stored_data (owner, name, value, file, bytes, labels, updated_at, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value, file = excluded.file, bytes = excluded.bytes,
      labels = excluded.labels, updated_at = excluded.updated_at, checksum = excluded.checksum`);
  const drop = database.prepare('DELETE FROM stored_data WHERE owner = ? AND name = ?');
  const record = effectRecorder(database);

  return {
    keepStored(row: StoredRow, quota: StoredQuota, by: { held: Held; effects: readonly EffectRow[] }): Kept {
      requireStorable(row.owner, row.name, row.value, row.file, row.labels);
      const others = held.get(row.owner, row.name) as { count: number; bytes: number };
      const [bytes, count] = [others.bytes + row.bytes, others.count + 1];
      if (bytes > quota.bytes || count > quota.count) return { kept: false, bytes, count };
      record(by.held, by.effects);
      const replaced = byName.get(row.owner, row.name) as CheckedStored | undefined;
      put.run(row.owner, row.name, row.value, row.file, row.bytes, row.labels, row.updatedAt, storedChecksumOf(row));
      return { kept: true, replaced: replaced === undefined ? null : checkedStored(replaced) };
    },

    removeStored(owner: string, name: string): StoredRow | null {
      const row = byName.get(owner, name) as CheckedStored | undefined;
      if (row === undefined) return null;
      drop.run(owner, name);
      const { checksum: _, ...stored } = row;
      return stored;
    },
  };
}

export interface CheckedStored extends StoredRow {
  readonly checksum: number;
}

export function checkedStored({ checksum, ...row }: CheckedStored): StoredRow {
  if (checksum === storedChecksumOf(row)) return row;
  throw new StoreError('store_damaged', `What ${row.owner} stored as ${row.name} is damaged in the database.`);
}

export function storedChecksumOf({ owner, name, value, file, labels }: StoredRow): number {
  return [owner, name, value ?? '', file ?? '', labels ?? ''].reduce((sum, text) => crc32(text, sum), 0);
}

export const SELECT_STORED = `
  SELECT owner, name, value, file, bytes, labels, updated_at AS "updatedAt", checksum FROM stored_data`;
