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

/**
 * What each contender gives, in rounds: in each, one after the other, starting with another one each time. A first round
 * warms up and is not counted.
 */
export async function inTurns<Contenders extends object, Result>(
  contenders: Contenders,
  rounds: number,
  measureOne: (one: Contenders[keyof Contenders]) => Promise<Result>,
): Promise<Record<keyof Contenders, Result>[]> {
  const names = Object.keys(contenders) as (keyof Contenders)[];
  const results: Record<keyof Contenders, Result>[] = [];
  for (let round = 0; round <= rounds; round++) {
    const order = names.map((_, index) => names[(index + round) % names.length] as keyof Contenders);
    const found = new Map<keyof Contenders, Result>();
    for (const name of order) found.set(name, await measureOne(contenders[name]));
    if (round > 0) results.push(Object.fromEntries(found) as Record<keyof Contenders, Result>);
  }
  return results;
}

/** How one contender stands to another: the median of the rounds' ratios. */
export function medianRatio<Name extends PropertyKey, Result>(
  rounds: readonly Record<Name, Result>[],
  name: Name,
  base: Name,
  value: (result: Result) => number,
): number {
  return median(ratiosOf(rounds, name, base, value));
}

/** The same, round by round. */
export function ratiosOf<Name extends PropertyKey, Result>(
  rounds: readonly Record<Name, Result>[],
  name: Name,
  base: Name,
  value: (result: Result) => number,
): number[] {
  return rounds.map((round) => value(round[name]) / value(round[base]));
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** Between what the median would lie 19 times out of 20, were all measured again: so much is chance. */
export function boundsOfMedian(values: readonly number[]): [low: number, high: number] {
  const sorted = [...values].sort((a, b) => a - b);
  const off = 0.98 * Math.sqrt(sorted.length);
  const at = (rank: number) => sorted[Math.min(Math.max(Math.round(rank), 0), sorted.length - 1)] ?? 0;
  return [at(sorted.length / 2 - off), at(sorted.length / 2 + off)];
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
  // Long enough for the optimising compiler.
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

/**
 * Where results go, so that no compiler may leave the work out: somebody could read it.
 * @public
 */
export let sink: unknown;

const ROUNDS = 40;
const WARM_UP_MS = 200;
const SLICE_MS = 10;
