import { type Zone, zonedInstantOf } from './zone.ts';

/** A duration: months and whole days by the calendar, the rest as elapsed time. */
export interface Duration {
  readonly months: number;
  /** A fraction is that part of 24 hours. */
  readonly days: number;
  readonly milliseconds: number;
}

/** The instant a duration later; NaN when no `Date` can hold it. */
export function addCalendar(instant: number, { months, days, milliseconds }: Duration, zone: Zone): number {
  const whole = Math.trunc(days);
  const passing = milliseconds + (days - whole) * DAY;
  if (months === 0 && whole === 0) return held(instant + passing);
  const local = new Date(instant + zone.offsetAt(instant));
  const day = local.getUTCDate();
  local.setUTCDate(1);
  local.setUTCMonth(local.getUTCMonth() + months);
  // If the month is too short, its last day.
  local.setUTCDate(Math.min(day, daysIn(local)));
  local.setUTCDate(local.getUTCDate() + whole);
  const moved = local.getTime();
  // `zonedInstantOf` also looks at the day before and after, which must exist as well.
  if (Number.isNaN(held(moved)) || Math.abs(moved) > LATEST - 2 * DAY) return Number.NaN;
  return held(zonedInstantOf(moved, zone) + passing);
}

function daysIn(date: Date): number {
  const last = new Date(date.getTime());
  last.setUTCMonth(date.getUTCMonth() + 1, 0);
  return last.getUTCDate();
}

function held(instant: number): number {
  return new Date(instant).getTime();
}

const DAY = 86_400_000;
const LATEST = 8_640_000_000_000_000;
