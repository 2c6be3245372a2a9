import type { Compiling } from '../operation.ts';

/** A time zone: how far its clocks are ahead of UTC at an instant. Instants and offsets are milliseconds. */
export interface Zone {
  readonly name: string;
  offsetAt(instant: number): number;
}

/** The zone of an IANA name. An unknown one makes the plan invalid. */
export function compileZone(name: string, pointer: string, compiling: Compiling): Zone {
  if (name === 'UTC' || name === 'Z') return UTC;
  try {
    return namedZone(name);
  } catch {
    const message = `${pointer.slice(1)} must be an IANA time zone; got ${JSON.stringify(name)}`;
    compiling.problem(pointer, message, 'such as Europe/Madrid');
    return UTC;
  }
}

export const UTC: Zone = { name: 'UTC', offsetAt: () => 0 };

/** The zone of a time that is written with an offset. */
export function fixedZone(offset: number): Zone {
  return { name: offsetText(offset), offsetAt: () => offset };
}

/** `+02:00` for two hours. */
export function offsetText(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return `${offset < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

/**
 * The instant at which the zone's clocks show a local time, which is given as if it were UTC. Of a local time that
 * occurs twice, the first is meant; one that a change of the clocks skips is read with the offset before the change.
 */
export function zonedInstantOf(local: number, zone: Zone): number {
  const before = zone.offsetAt(local - DAY);
  const after = zone.offsetAt(local + DAY);
  if (zone.offsetAt(local - before) === before) return local - before;
  return zone.offsetAt(local - after) === after ? local - after : local - before;
}

function namedZone(name: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return {
    name,
    offsetAt(instant) {
      const second = Math.floor(instant / 1000) * 1000;
      const parts = new Map(format.formatToParts(second).map(({ type, value }) => [type, value]));
      const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
      const year = parts.get('era')?.startsWith('B') ? 1 - part('year') : part('year');
      const shown = new Date(0);
      // Not `Date.UTC`, which reads a year below 100 as one of the last century.
      shown.setUTCFullYear(year, part('month') - 1, part('day'));
      shown.setUTCHours(part('hour'), part('minute'), part('second'));
      return shown.getTime() - second;
    },
  };
}

const DAY = 86_400_000;
