/**
 * A name that every client accepts: at most 48 letters, digits and `_`, because clients put `mcp__SERVER__` before it.
 */
export function mcpToolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, LONGEST) || '_';
}

/** A different tool name for each name: `a-b` and `a.b` become `a_b` and `a_b_2`. The names in `taken` are not used. */
export function uniqueToolNames(names: readonly string[], taken: readonly string[] = []): string[] {
  const used = new Set(taken);
  return names.map((name) => {
    const plain = mcpToolName(name);
    let unique = plain;
    for (let count = 2; used.has(unique); count++)
      unique = `${plain.slice(0, LONGEST - 1 - String(count).length)}_${count}`;
    used.add(unique);
    return unique;
  });
}

const LONGEST = 48;
