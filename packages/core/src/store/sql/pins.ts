import type { PinRow } from '../pins.ts';
import type { Database } from '../sqlite-engine.ts';

export function pinReads(database: Database) {
  const list = database.prepare('SELECT name, hash, pinned_at AS "pinnedAt" FROM tool_pins ORDER BY name');

  return {
    listPins: (): PinRow[] => list.all() as PinRow[],
  };
}

export function pinWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO tool_pins (name, hash, pinned_at) VALUES (?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, pinned_at = excluded.pinned_at`);

  return {
    putPin(row: PinRow): void {
      put.run(row.name, row.hash, row.pinnedAt);
    },
  };
}
