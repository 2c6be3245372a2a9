import { isObject, type Json, type JsonObject, parseTimestamp } from '@dragoman/protocols';
import type { Path } from '@dragoman/protocols/a2e-workflow';
import { wrongShape } from '../input.ts';
import type { StepContext } from '../operation.ts';
import { dataError, type StepError } from '../step-error.ts';
import { fixedZone, UTC, type Zone, zonedInstantOf } from './zone.ts';

export interface Moment {
  readonly instant: number;
  /** The zone in the text, otherwise the given one. */
  readonly zone: Zone;
}

/** The time at a path: ISO 8601 text, epoch seconds, or an object with `year` to `second`. */
export function instantAt(step: StepContext, path: Path, zone: Zone): Moment {
  const value = step.read(path);
  const moment = momentOf(value, zone);
  if (moment === undefined) {
    if (typeof value === 'number') throw outsideOfYears();
    const isTime = (other: Json) => typeof other === 'string' && momentOf(other, zone) !== undefined;
    throw wrongShape(path, 'a time: ISO 8601 text, epoch seconds, or an object with year to second', value, isTime);
  }
  return moment;
}

/** A time outside the years 0000 to 9999. */
export function outsideOfYears(): StepError {
  return dataError('the time is outside the years 0000 to 9999', {
    suggestions: ['add or subtract less; epoch times are in seconds, not milliseconds'],
  });
}

export function momentOf(value: Json, zone: Zone): Moment | undefined {
  if (typeof value === 'string') return fromText(value.trim(), zone);
  if (typeof value === 'number') return isTellable(value * 1000) ? { instant: value * 1000, zone } : undefined;
  return isObject(value) ? fromParts(value, zone) : undefined;
}

function fromText(text: string, zone: Zone): Moment | undefined {
  const whole = TEXT.exec(text);
  if (whole === null) return undefined;
  const [, date = '', time = '00:00', seconds = ':00', offset] = whole;
  const shown = parseTimestamp(`${date}T${time}${seconds}Z`);
  if (shown === undefined) return undefined;
  if (offset === undefined) return { instant: zonedInstantOf(shown, zone), zone };
  if (/^z$/i.test(offset)) return { instant: shown, zone: UTC };
  const own = offset.length === 5 ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset;
  const instant = parseTimestamp(`${date}T${time}${seconds}${own}`);
  return instant === undefined ? undefined : { instant, zone: fixedZone(shown - instant) };
}

function fromParts(parts: JsonObject, zone: Zone): Moment | undefined {
  const { year, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const values = [year, month, day, hour, minute, second];
  if (!values.every((value) => typeof value === 'number' && Number.isInteger(value) && value >= 0)) return undefined;
  const [wide = '', ...narrow] = values.map((value, at) => String(value).padStart(at === 0 ? 4 : 2, '0'));
  const [mm, dd, h, m, s] = narrow;
  return fromText(`${wide}-${mm}-${dd}T${h}:${m}:${s}`, zone);
}

/** Whether an instant is within the years 0000 to 9999, so that it can be written. */
export function isTellable(instant: number): boolean {
  return instant >= FIRST && instant < LAST;
}

const FIRST = Date.parse('0000-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');
const TEXT = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?\s?([Zz]|[+-]\d{2}:?\d{2})?)?$/;
