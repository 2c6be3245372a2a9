/**
 * Every owner in a table, as a common table expression `owners (name)`: one step into an index that begins with `owner` for
 * each. So a record is found by its name alone without an index that every write must maintain.
 */
export function ownersIn(table: string): string {
  return `
    WITH RECURSIVE owners (name) AS (
      SELECT MIN(owner) FROM ${table}
      UNION ALL
      SELECT (SELECT MIN(n.owner) FROM ${table} n WHERE n.owner > owners.name) FROM owners WHERE owners.name IS NOT NULL
    )`;
}
