/**
 * Nanoseconds a call, by contender, measured in turns: each round gives every contender one short slice, and the
 * best slice counts. A neighbour on the machine slows some slices of everybody, not the best of one.
 */
export function measure<Name extends string>(contenders: Readonly<Record<Name, () => unknown>>): Record<Name, number> {
  const names = Object.keys(contenders) as Name[];
  const best = Object.fromEntries(names.map((name) => [name, Number.POSITIVE_INFINITY])) as Record<Name, number>;
  const calls = Object.fromEntries(names.map((name) => [name, callsPerSlice(contenders[name])])) as Record<
    Name,
    number
  >;
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of names) best[name] = Math.min(best[name], slice(contenders[name], calls[name]));
  }
  return best;
}

/** A table with its columns aligned, numbers to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

function callsPerSlice(call: () => unknown): number {
  // Long enough for the optimising compiler to have had its say.
  const until = performance.now() + WARM_UP_MS;
  let calls = 0;
  while (performance.now() < until) {
    for (let i = 0; i < 100; i++) sink = call();
    calls += 100;
  }
  return Math.max(100, Math.round((calls / WARM_UP_MS) * SLICE_MS));
}

function slice(call: () => unknown, calls: number): number {
  const start = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) sink = call();
  return Number(process.hrtime.bigint() - start) / calls;
}

/** Where results go, so that no compiler may leave the work out. */
export let sink: unknown;

const ROUNDS = 40;
const WARM_UP_MS = 200;
const SLICE_MS = 10;
