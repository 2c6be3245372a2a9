/**
 * Strict RFC 3339 to epoch milliseconds; `undefined` when it is not one. `Date.parse` is no judge: it takes
 * February 30th, 24:00 and the string "9".
 */
export function parseTimestamp(text: string): number | undefined {
  const parts = RFC_3339.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction, zone, zoneHour, zoneMinute] = parts;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1) return undefined;
  if (Number(day) > daysInMonth(Number(year), Number(month))) return undefined;
  if (zoneHour !== undefined && (Number(zoneHour) > 23 || Number(zoneMinute) > 59)) return undefined;
  const milliseconds = Math.floor(Number(`0${fraction ?? ''}`) * 1000);
  const local = utcMilliseconds(Number(year), Number(month), Number(day));
  const time = local + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + milliseconds;
  if (zoneHour === undefined) return time;
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000;
  return zone?.startsWith('-') ? time + offset : time - offset;
}

/** Epoch milliseconds of midnight; `Date.UTC` alone reads the years 0 to 99 as 1900 to 1999. */
function utcMilliseconds(year: number, month: number, day: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime();
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-](\d{2}):(\d{2}))$/;
