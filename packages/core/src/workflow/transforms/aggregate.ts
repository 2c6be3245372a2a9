import type { Json } from '@dragoman/protocols';
import { type FieldReader, fieldReader } from '../field.ts';
import { arrayAt } from '../input.ts';
import type { Settings, Transform } from './transform.ts';

/**
 * Counts, sums, averages, least and greatest, as many as asked for in one pass. `count` counts the items that have the
 * field. Sums and averages are over numbers, least and greatest over numbers, or over texts when there are no numbers.
 */
export const compileAggregate: Transform = (settings, input) => {
  const asked = askedFor(settings);
  return (step) => {
    const items = arrayAt(step, input);
    const tallies = asked.map(({ read }) => new Tally(read));
    for (const tally of tallies) for (const item of items) tally.add(item);
    return Object.fromEntries(asked.map(({ name, operation }, at) => [name, tallies[at]?.result(operation) ?? null]));
  };
};

interface Asked {
  readonly name: string;
  readonly operation: string;
  readonly read: FieldReader | undefined;
}

function askedFor({ field, operation = 'count', operations }: Settings): readonly Asked[] {
  const reader = (name: string | undefined) => (name === undefined ? undefined : fieldReader(name));
  if (operations === undefined) return [{ name: 'result', operation, read: reader(field) }];
  return operations.map((each) => ({
    name: each.as ?? (each.field === undefined ? each.operation : `${each.operation}_${each.field}`),
    operation: each.operation,
    read: reader(each.field),
  }));
}

class Tally {
  readonly #read: FieldReader | undefined;
  #count = 0;
  #numbers = 0;
  #sum = 0;
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;
  #firstText: string | undefined;
  #lastText: string | undefined;

  constructor(read: FieldReader | undefined) {
    this.#read = read;
  }

  add(item: Json): void {
    const value = this.#read === undefined ? item : this.#read(item);
    if (value === undefined || value === null) return;
    this.#count++;
    if (typeof value === 'number') {
      this.#numbers++;
      this.#sum += value;
      if (value < this.#least) this.#least = value;
      if (value > this.#most) this.#most = value;
    } else if (typeof value === 'string') {
      if (this.#firstText === undefined || value < this.#firstText) this.#firstText = value;
      if (this.#lastText === undefined || value > this.#lastText) this.#lastText = value;
    }
  }

  result(operation: string): Json {
    if (operation === 'count') return this.#count;
    if (operation === 'sum') return this.#sum;
    if (operation === 'avg') return this.#numbers === 0 ? 0 : this.#sum / this.#numbers;
    if (operation === 'min') return this.#numbers > 0 ? this.#least : (this.#firstText ?? null);
    return this.#numbers > 0 ? this.#most : (this.#lastText ?? null);
  }
}
