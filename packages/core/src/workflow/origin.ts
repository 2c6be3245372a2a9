import { hash } from 'node:crypto';
import type { Path } from '@dragoman/protocols/a2e-workflow';
import type { Sized } from './budget.ts';
import { type Label, UNLABELLED, unionOfLabels } from './label.ts';

/** The origin of a value: what the cache, the data budget and the gate need to know about it. */
export interface Origin {
  /** Identifies the value without reading it: equal lineages mean equal values. `''` when it is unknown. */
  readonly lineage: string;
  /** The entries of the account that bound the value's size. */
  readonly sizes: readonly Sized[];
  /** The labels of the answers it was derived from. */
  readonly labels: readonly Label[];
  /** The id of the operation that wrote the value; `''` for none. */
  readonly by: string;
}

export const NOWHERE: Origin = { lineage: 'nothing', sizes: [], labels: UNLABELLED, by: '' };

/** The origin of a part of a value, or of its container: `from` is the path of the container, `to` that of the part. */
export function originBelow(origin: Origin, to: Path, from: Path): Origin {
  return { ...origin, lineage: chainedName(origin.lineage, to.keys.slice(from.keys.length).join('/')) };
}

/** The origin of a value of which a part was replaced. */
export function originWith(outer: Origin, path: Path, part: Origin): Origin {
  const { lineage, ...rest } = originOfParts([outer, part]);
  return { ...rest, lineage: chainedName(lineage, path.keys.join('/')) };
}

/** The origin of a value made from others. */
export function originOfParts(parts: readonly Origin[]): Origin {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return { ...only, lineage: chainedName(only.lineage) };
  return {
    lineage: chainedName(...parts.map(({ lineage }) => lineage)),
    sizes: [...new Set(parts.flatMap(({ sizes }) => sizes))],
    labels: unionOfLabels(parts.map(({ labels }) => labels)),
    by: parts.at(-1)?.by ?? '',
  };
}

/** One name from several. It is `''` if one of them is unknown. */
export function chainedName(...names: readonly string[]): string {
  if (names.includes('')) return '';
  if (names.length === 0) return 'nothing';
  return hash('sha256', names.map((name) => `${name.length}:${name}`).join(''), 'base64url');
}

/** An upper bound of the bytes a value has as JSON. */
export function bytesOf({ sizes }: Origin): number {
  let total = 0;
  for (const { bytes } of sizes) total += bytes;
  return total;
}
