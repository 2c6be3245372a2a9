import type { Json } from '@dragoman/protocols';
import type { Compiling } from '../operation.ts';
import { isTellable, outsideOfYears } from './input.ts';
import { offsetText, type Zone } from './zone.ts';

/** How a date operation writes its result. */
export type DateOutput = (instant: number, zone: Zone) => Json;

export function compileOutput(format: string, formatString: string, compiling: Compiling): DateOutput {
  const write = writerOf(format, formatString, compiling);
  return (instant, zone) => {
    if (!isTellable(instant)) throw outsideOfYears();
    return write(instant, zone);
  };
}

function writerOf(format: string, formatString: string, compiling: Compiling): DateOutput {
  if (format === 'timestamp') return (instant) => Math.floor(instant / 1000);
  if (format === 'custom') return compileFormat(formatString, compiling);
  if (format !== 'iso8601') compiling.problem('/format', `format must be iso8601, timestamp or custom; got ${format}`);
  return iso8601;
}

/** RFC 3339, without a fraction when it is zero. */
function iso8601(instant: number, zone: Zone): string {
  const offset = zone.offsetAt(instant);
  const text = new Date(instant + offset).toISOString();
  const fraction = text.slice(19, 23) === '.000' ? '' : text.slice(19, 23);
  return `${text.slice(0, 19)}${fraction}${zone.name === 'UTC' ? 'Z' : offsetText(offset)}`;
}

/** strftime. Names of days and months are English. */
function compileFormat(formatString: string, compiling: Compiling): DateOutput {
  const parts: Part[] = [];
  for (const [, text, letter] of formatString.matchAll(/([^%]+)|%(.?)/gs)) {
    if (text !== undefined) parts.push(() => text);
    else {
      const part = PARTS.get(letter ?? '');
      if (part === undefined) {
        const known = [...PARTS.keys()].map((name) => `%${name}`).join(' ');
        compiling.problem('/formatString', `formatString has %${letter}, which is not one of ${known}`);
      } else parts.push(part);
    }
  }
  return (instant, zone) => {
    const offset = zone.offsetAt(instant);
    const shown = new Date(instant + offset);
    return parts.map((part) => part({ shown, instant, offset, zone })).join('');
  };
}

interface Shown {
  /** The zone's time as if it were UTC. */
  readonly shown: Date;
  readonly instant: number;
  readonly offset: number;
  readonly zone: Zone;
}
type Part = (time: Shown) => string;

function digits(count: number, value: (shown: Date) => number): Part {
  return ({ shown }) => String(value(shown)).padStart(count, '0');
}

function dayOfYear(shown: Date): number {
  const first = new Date(shown.getTime()).setUTCMonth(0, 1);
  return Math.floor((shown.getTime() - first) / 86_400_000) + 1;
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const dayName = ({ shown }: Shown) => DAYS[shown.getUTCDay()] ?? '';
const monthName = ({ shown }: Shown) => MONTHS[shown.getUTCMonth()] ?? '';

const PARTS: ReadonlyMap<string, Part> = new Map<string, Part>([
  ['Y', digits(4, (shown) => shown.getUTCFullYear())],
  ['y', digits(2, (shown) => shown.getUTCFullYear() % 100)],
  ['m', digits(2, (shown) => shown.getUTCMonth() + 1)],
  ['d', digits(2, (shown) => shown.getUTCDate())],
  ['e', ({ shown }) => String(shown.getUTCDate()).padStart(2, ' ')],
  ['j', digits(3, dayOfYear)],
  ['H', digits(2, (shown) => shown.getUTCHours())],
  ['I', digits(2, (shown) => shown.getUTCHours() % 12 || 12)],
  ['p', ({ shown }) => (shown.getUTCHours() < 12 ? 'AM' : 'PM')],
  ['M', digits(2, (shown) => shown.getUTCMinutes())],
  ['S', digits(2, (shown) => shown.getUTCSeconds())],
  ['f', ({ shown }) => `${String(shown.getUTCMilliseconds()).padStart(3, '0')}000`],
  ['A', dayName],
  ['a', (time) => dayName(time).slice(0, 3)],
  ['B', monthName],
  ['b', (time) => monthName(time).slice(0, 3)],
  ['u', ({ shown }) => String(shown.getUTCDay() || 7)],
  ['w', ({ shown }) => String(shown.getUTCDay())],
  ['F', ({ shown }) => shown.toISOString().slice(0, 10)],
  ['T', ({ shown }) => shown.toISOString().slice(11, 19)],
  ['z', ({ offset }) => offsetText(offset).replace(':', '')],
  ['Z', ({ zone }) => zone.name],
  ['s', ({ instant }) => String(Math.floor(instant / 1000))],
  ['%', () => '%'],
]);
