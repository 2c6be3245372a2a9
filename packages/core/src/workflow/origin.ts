import { hash } from 'node:crypto';
import type { Path } from '@dragoman/protocols/a2e-workflow';
import type { Sized } from './budget.ts';
import { type Label, UNLABELLED, unionOfLabels } from './label.ts';

/** The origin of a value: what the cache, the data budget and the gate need to know about it. */
export interface Origin {
  /** Names the value without looking at it: equal lineage, equal value. `''` until it is needed. */
  readonly lineage: string;
  /** The size it adds to the data model. */
  readonly sizes: readonly Sized[];
  /** The labels of the answers it was derived from. */
  readonly labels: readonly Label[];
  /** The operation that wrote it; `''` for none. */
  readonly by: string;
}

export const NOWHERE: Origin = { lineage: 'nothing', sizes: [], labels: UNLABELLED, by: '' };

/** A part or container of a value: `to` and `from` are the paths between them. */
export function originBelow(origin: Origin, to: Path, from: Path): Origin {
  return { ...origin, lineage: chainedName(origin.lineage, to.keys.slice(from.keys.length).join('/')) };
}

/** A value of which a part was replaced. */
export function originWith(outer: Origin, path: Path, part: Origin): Origin {
  const { lineage, ...rest } = originOfParts([outer, part]);
  return { ...rest, lineage: chainedName(lineage, path.keys.join('/')) };
}

/** A value made from others. */
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

/** One name from several. Without names there is nothing to hash. */
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
