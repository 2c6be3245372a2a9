import type { Json } from '@dragoman/protocols';
import { aggregateName } from '@dragoman/protocols/a2e-workflow';
import { fieldReader, isPlainName, type Members } from '../field.ts';
import { finite } from '../finite.ts';
import { arrayAt } from '../input.ts';
import type { Transform, TransformSettings } from './transform.ts';

/**
 * Counts, sums, averages, minima and maxima, in one pass for each field. `count` counts the items that have the field,
 * or all items without a field. Sums and averages are over numbers; minima and maxima are over numbers, or over texts
 * if there are no numbers.
 */
export const aggregate: Transform = {
  compile(settings, input) {
    const aggregations = aggregationsIn(settings);
    const fields = [...new Set(aggregations.map(({ field }) => field))];
    return (step) => {
      const items = arrayAt(step, input);
      const tallies = new Map(fields.map((field) => [field, tally(items, field)]));
      const results = aggregations.map(
        ({ name, operation, field }) => [name, resultOf(operation, tallies.get(field) ?? NOTHING)] as const,
      );
      // A single result is a plain value, so that it can be compared and calculated with. It can also be read at
      // `.result`.
      return settings.operations === undefined ? (results[0]?.[1] ?? null) : Object.fromEntries(results);
    };
  },
};

interface Aggregation {
  readonly name: string;
  readonly operation: string;
  /** `undefined` for the item itself. */
  readonly field: string | undefined;
}

function aggregationsIn({ field, operation = 'count', operations }: TransformSettings): readonly Aggregation[] {
  if (operations === undefined) return [{ name: 'result', operation, field }];
  return operations.map((each) => ({
    name: aggregateName(each),
    operation: each.operation,
    field: each.field,
  }));
}

interface Texts {
  /** The first and the last text in order; `undefined` without texts. */
  firstText: string | undefined;
  lastText: string | undefined;
}

interface Tally extends Readonly<Texts> {
  readonly count: number;
  readonly numbers: number;
  readonly sum: number;
  readonly least: number;
  readonly most: number;
}

function tally(items: readonly Json[], field: string | undefined): Tally {
  const { least, most, sum, at: numbersFirst } = tallyNumbers(items, field);
  const tally = { count: numbersFirst, numbers: numbersFirst, sum, least, most, ...NO_TEXTS };
  const read = field === undefined ? (item: Json | undefined) => item : fieldReader(field);
  for (let at = numbersFirst; at < items.length; at++) {
    const value = read(items[at]);
    // Without a field the items themselves are counted, including null.
    if (value === undefined || (value === null && field !== undefined)) continue;
    tally.count++;
    if (typeof value === 'number') {
      tally.numbers++;
      tally.sum += value;
      if (value < tally.least) tally.least = value;
      if (value > tally.most) tally.most = value;
    } else if (typeof value === 'string') {
      if (tally.firstText === undefined || value < tally.firstText) tally.firstText = value;
      if (tally.lastText === undefined || value > tally.lastText) tally.lastText = value;
    }
  }
  return tally;
}

/** The fast path for the first items, as long as each has a number under a plain name. `at` is the first other item. */
function tallyNumbers(items: readonly Json[], field = '') {
  let sum = 0;
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let at = 0;
  if (!isPlainName(field)) return { sum, least, most, at };
  for (; at < items.length; at++) {
    const item = items[at];
    if (typeof item !== 'object' || item === null) break;
    const value = (item as Members)[field];
    if (typeof value !== 'number') break;
    sum += value;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { sum, least, most, at };
}

function resultOf(operation: string, { count, numbers, sum, least, most, firstText, lastText }: Tally): Json {
  if (operation === 'count') return count;
  if (operation === 'sum') return finite(sum, operation);
  if (operation === 'avg') return numbers === 0 ? 0 : finite(sum / numbers, operation);
  if (operation === 'min') return numbers > 0 ? least : (firstText ?? null);
  return numbers > 0 ? most : (lastText ?? null);
}

const NO_TEXTS: Texts = { firstText: undefined, lastText: undefined };
const NOTHING: Tally = tally([], undefined);
