import type { NewPin, PinRow } from '../pins.ts';
import type { Database } from '../sqlite-engine.ts';

export function pinReads(database: Database) {
  const list = database.prepare(`${SELECT_PIN} ORDER BY name`);
  const definition = database.prepare('SELECT definition FROM tool_pins WHERE name = ?');

  return {
    listPins(): PinRow[] {
      return (list.all() as StoredPin[]).map(pinIn);
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
  const add = database.prepare(
    'INSERT INTO tool_pins (name, hash, pinned_at, definition) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING',
  );
  const byName = database.prepare(`${SELECT_PIN} WHERE name = ?`);
  const refuse = database.prepare('UPDATE tool_pins SET refused = ? WHERE name = ?');

  return {
    putPin({ name, hash, pinnedAt, definition }: NewPin): void {
      put.run(name, hash, pinnedAt, definition);
    },
    addPin({ name, hash, pinnedAt, definition }: NewPin): PinRow {
      add.run(name, hash, pinnedAt, definition);
      return pinIn(byName.get(name) as StoredPin);
    },
    refusePin(name: string, hash: string): void {
      refuse.run(hash, name);
    },
  };
}

type StoredPin = Omit<PinRow, 'hasDefinition'> & { readonly hasDefinition: number };

function pinIn(row: StoredPin): PinRow {
  return { ...row, hasDefinition: row.hasDefinition === 1 };
}

const SELECT_PIN =
  'SELECT name, hash, pinned_at AS "pinnedAt", refused, definition IS NOT NULL AS "hasDefinition" FROM tool_pins';
