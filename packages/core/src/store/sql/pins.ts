import type { NewPin, PinRow } from '../pins.ts';
import type { Database } from '../sqlite-engine.ts';

export function pinReads(database: Database) {
  const list = database.prepare(`
    SELECT name, hash, pinned_at AS "pinnedAt", refused, definition IS NOT NULL AS "hasDefinition"
    FROM tool_pins ORDER BY name`);
  const definition = database.prepare('SELECT definition FROM tool_pins WHERE name = ?');

  return {
    listPins(): PinRow[] {
      const rows = list.all() as (Omit<PinRow, 'hasDefinition'> & { hasDefinition: number })[];
      return rows.map((row) => ({ ...row, hasDefinition: row.hasDefinition === 1 }));
    },
    pinnedDefinition(name: string): string | null {
      return (definition.get(name) as { definition: string | null } | undefined)?.definition ?? null;
    },
  };
}

export function pinWrites(database: Database) {
  const put = database.prepare(`
    INSERT INTO tool_pins (name, hash, pinned_at, definition) VALUES (?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET
      hash = excluded.hash, pinned_at = excluded.pinned_at, definition = excluded.definition, refused = NULL`);
  const refuse = database.prepare('UPDATE tool_pins SET refused = ? WHERE name = ?');

  return {
    putPin({ name, hash, pinnedAt, definition }: NewPin): void {
      put.run(name, hash, pinnedAt, definition);
    },
    refusePin(name: string, hash: string): void {
      refuse.run(hash, name);
    },
  };
}
