import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { DecodeOptions } from '../packages/protocols/src/dialect.ts';
import type { Json } from '../packages/protocols/src/json.ts';

/** One case of the conformance data: an input, what must come of it, and why. */
export interface Fixture<Expect> {
  /** The file's name without `.json`. */
  readonly name: string;
  /** The section of the specification, or the decision, it shows. */
  readonly spec: string;
  readonly why: string;
  readonly input: Json;
  readonly expect: Expect;
  /** The time it is read at; a fixed one unless given. */
  readonly now?: string;
  readonly options?: DecodeOptions;
}

const root = new URL('../conformance/', import.meta.url);

export function loadFixtures<Expect>(
  dialect: string,
  kind: 'accept' | 'reject' | 'convert' | 'negotiate',
): Fixture<Expect>[] {
  const folder = new URL(`${dialect}/${kind}/`, root);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => {
      const fixture = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Omit<Fixture<Expect>, 'name'>;
      return { name: file.slice(0, -'.json'.length), ...fixture };
    });
}
