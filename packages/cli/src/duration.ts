import { InvalidArgumentError } from 'commander';

/**
 * A parser for options that are durations: a number of seconds, or a number with a unit, such as 500ms, 30s, 5m, 12h or
 * 30d. Returns milliseconds.
 */
export function duration({ fromMs, toMs }: { fromMs: number; toMs: number }) {
  return (text: string): number => {
    const [, digits = '', unit = 's'] = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d)?$/.exec(text) ?? [];
    const milliseconds = digits === '' ? Number.NaN : Math.round(Number(digits) * (UNITS[unit] ?? Number.NaN));
    if (milliseconds >= fromMs && milliseconds <= toMs) return milliseconds;
    throw new InvalidArgumentError(
      `Give a time from ${inWords(fromMs)} to ${inWords(toMs)}: seconds, or a number with ms, s, m, h or d.`,
    );
  };
}

/** The shortest notation of a duration. */
export function inWords(milliseconds: number): string {
  const [unit = 'ms', size = 1] =
    Object.entries(UNITS).findLast(([, length]) => milliseconds >= length && milliseconds % length === 0) ?? [];
  return `${milliseconds / size}${unit}`;
}

export const A_DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: A_DAY_MS };
