/**
 * Strict RFC 3339 to epoch milliseconds; `undefined` if invalid. `Date.parse` is not strict: it accepts
 * February 30th, 24:00 and the string "9".
 */
export function parseTimestamp(text: string): number | undefined {
  return isTimestamp(text) ? instantOf(text) : undefined;
}

/** `parseTimestamp` for a text that is known to be valid. */
export function instantOf(text: string): number {
  const day = daysSinceEpoch(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2));
  const seconds = (digits(text, 11, 2) * 60 + digits(text, 14, 2)) * 60 + digits(text, 17, 2);
  return day * 86_400_000 + seconds * 1000 + millisecondsAfter(text) - zoneOffset(text);
}

/** Whether a text is RFC 3339, without computing the time. */
export function isTimestamp(text: string): boolean {
  return TIMESTAMP.test(text) && hasItsDay(text);
}

/** Whether a text is RFC 3339 in UTC, with no fraction or one of three digits, as A2A messages write times. */
export function isUtcTimestamp(text: string): boolean {
  return UTC_IN_RANGE.test(text) && hasItsDay(text);
}

/** The pattern of such a time in the schemas of A2A messages. */
export const UTC_TIMESTAMP = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{3})?Z$';

/** Whether the month has this day. */
function hasItsDay(text: string): boolean {
  // Every month has at least 28 days.
  const tens = text.charCodeAt(8);
  if (tens < TWO || (tens === TWO && text.charCodeAt(9) !== NINE)) return true;
  const day = digits(text, 8, 2);
  return day <= daysInMonth(digits(text, 0, 4), digits(text, 5, 2));
}

/** The number written in `count` digits at `at`. */
function digits(text: string, at: number, count: number): number {
  let value = 0;
  for (let index = at; index < at + count; index++) value = value * 10 + text.charCodeAt(index) - ZERO;
  return value;
}

/** The milliseconds of the fraction, by its digits: as a double, .9999999999999999999 would be a second. */
function millisecondsAfter(text: string): number {
  if (text.charCodeAt(19) !== POINT) return 0;
  if (text.length === WITH_MILLISECONDS) return digits(text, 20, 3);
  const fraction = /\d+/.exec(text.slice(20))?.[0] ?? '';
  return Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** Milliseconds the zone is ahead of UTC. */
function zoneOffset(text: string): number {
  const zone = text.length - 6;
  const sign = text.charCodeAt(zone);
  // A time that ends with `Z` has no colon there.
  if (text.charCodeAt(zone + 3) !== COLON || (sign !== PLUS && sign !== MINUS)) return 0;
  return (sign === MINUS ? -60_000 : 60_000) * (digits(text, zone + 1, 2) * 60 + digits(text, zone + 4, 2));
}

/**
 * Days from 1970-01-01 in the proleptic Gregorian calendar. Years start in March here, so that a leap day is the last
 * day of a year.
 */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const marchMonth = month > 2 ? month - 3 : month + 9;
  const leaps = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leaps + Math.floor((marchMonth * 153 + 2) / 5) + day - 1 - DAYS_TO_1970;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Checks everything about a time except the length of its month. */
const TIMESTAMP =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

const UTC_IN_RANGE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;

/** Days from 1 March of the year 0 to 1970-01-01. */
const DAYS_TO_1970 = 719_468;
const WITH_MILLISECONDS = '2026-03-28T12:00:00.000Z'.length;
const ZERO = 0x30;
const TWO = 0x32;
const NINE = 0x39;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const COLON = 0x3a;
