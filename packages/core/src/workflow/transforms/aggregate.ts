import type { Json } from '@dragoman/protocols';
import { fieldReader, isPlainName, type Members } from '../field.ts';
import { arrayAt } from '../input.ts';
import type { Settings, Transform } from './transform.ts';

/**
 * Counts, sums, averages, least and greatest, as many as asked for, in one pass for each field. `count` counts the items
 * that have the field. Sums and averages are over numbers, least and greatest over numbers, or over texts when there are none.
 */
export const compileAggregate: Transform = (settings, input) => {
  const asked = askedFor(settings);
  const fields = [...new Set(asked.map(({ field }) => field))];
  return (step) => {
    const items = arrayAt(step, input);
    const tallies = new Map(fields.map((field) => [field, tally(items, field)]));
    return Object.fromEntries(
      asked.map(({ name, operation, field }) => [name, resultOf(operation, tallies.get(field) ?? NOTHING)]),
    );
  };
};

interface Asked {
  readonly name: string;
  readonly operation: string;
  /** `undefined`: the item itself. */
  readonly field: string | undefined;
}

function askedFor({ field, operation = 'count', operations }: Settings): readonly Asked[] {
  if (operations === undefined) return [{ name: 'result', operation, field }];
  return operations.map((each) => ({
    name: each.as ?? (each.field === undefined ? each.operation : `${each.operation}_${each.field}`),
    operation: each.operation,
    field: each.field,
  }));
}

interface Tally {
  readonly count: number;
  readonly numbers: number;
  readonly sum: number;
  readonly least: number;
  readonly most: number;
  /** The first and the last in order; `undefined` when there is none. */
  readonly firstText: string | undefined;
  readonly lastText: string | undefined;
}

function tally(items: readonly Json[], field: string | undefined): Tally {
  let [count, numbers, sum] = [0, 0, 0];
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let firstText: string | undefined;
  let lastText: string | undefined;
  const name = field ?? '';
  const isPlain = isPlainName(name);
  const read = field === undefined ? (item: Json | undefined) => item : fieldReader(field);
  for (let at = 0; at < items.length; at++) {
    const item = items[at];
    const isDirect = isPlain && typeof item === 'object' && item !== null;
    const value = isDirect ? (item as Members)[name] : read(item);
    if (typeof value === 'number') {
      numbers++;
      sum += value;
      if (value < least) least = value;
      if (value > most) most = value;
    } else if (value !== undefined && value !== null) {
      count++;
      if (typeof value === 'string') {
        if (firstText === undefined || value < firstText) firstText = value;
        if (lastText === undefined || value > lastText) lastText = value;
      }
    }
  }
  return { count: count + numbers, numbers, sum, least, most, firstText, lastText };
}

function resultOf(operation: string, { count, numbers, sum, least, most, firstText, lastText }: Tally): Json {
  if (operation === 'count') return count;
  if (operation === 'sum') return sum;
  if (operation === 'avg') return numbers === 0 ? 0 : sum / numbers;
  if (operation === 'min') return numbers > 0 ? least : (firstText ?? null);
  return numbers > 0 ? most : (lastText ?? null);
}

const NOTHING: Tally = tally([], undefined);
