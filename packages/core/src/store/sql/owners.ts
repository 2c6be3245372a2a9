/**
 * A common table expression `owners (name)` with every owner in a table. It takes one step for each owner in an index
 * that begins with `owner`, so a record is found by its name alone without a further index.
 */
export function ownersIn(table: string): string {
  return `
    WITH RECURSIVE owners (name) AS (
      SELECT MIN(owner) FROM ${table}
      UNION ALL
      SELECT (SELECT MIN(n.owner) FROM ${table} n WHERE n.owner > owners.name) FROM owners WHERE owners.name IS NOT NULL
    )`;
}
