/** A name that every client accepts: letters, digits and `_`, at most 48 of them. Clients put `mcp__SERVER__` before it. */
export function mcpToolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, LONGEST) || '_';
}

/** Each of these names as MCP has it, no two the same: `a-b` and `a.b` are `a_b` and `a_b_2`. Those in `taken` are not given out. */
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
