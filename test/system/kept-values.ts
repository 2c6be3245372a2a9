import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dial } from '../../packages/core/src/store/postgres/connection.ts';
import { readPostgresUrl } from '../../packages/core/src/store/postgres/postgres-url.ts';

/** Everything that a server keeps, by place: every file of its data folder, and every table of its schema if it is on PostgreSQL. */
export async function keptValues(folder: string, store?: string): Promise<Map<string, Buffer>> {
  return new Map([...files(folder), ...(store === undefined ? [] : await tables(store))]);
}

/** Every file below a folder that a server uses, by path. A file that the server removes in the meantime is left out. */
function files(folder: string): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    try {
      files.set(path, readFileSync(path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return files;
}

async function tables(store: string): Promise<[string, Buffer][]> {
  const address = readPostgresUrl(store);
  const connection = await dial(address, () => {});
  try {
    const names = await connection.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [address.schema]);
    const all: [string, Buffer][] = [];
    for (const { tablename } of names.rows as { tablename: string }[]) {
      const { rows } = await connection.script(`SELECT * FROM ${tablename}`);
      all.push([`table ${tablename}`, Buffer.concat(rows.flatMap((row) => Object.values(row as object).map(bytesOf)))]);
    }
    return all;
  } finally {
    await connection.close();
  }
}

function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : Buffer.from(`${value}\n`);
}
