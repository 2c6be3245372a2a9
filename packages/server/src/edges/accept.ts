import { problem } from '../http/problem.ts';
import type { Answer } from '../http/route.ts';

/**
 * Picks the content type of the answer (RFC 9110 §12.5.1): the offered type that the peer prefers, and among equals the
 * one offered first. `undefined` if the peer accepts none of them.
 */
export function negotiateType<Type extends string>(
  accept: string | undefined,
  offered: readonly Type[],
): Type | undefined {
  if (accept === undefined || accept.trim() === '' || accept === '*/*') return offered[0];
  // Fast path: most callers name exactly one type.
  const named = offered.find((type) => type === accept);
  if (named !== undefined) return named;
  const ranges = accept.split(',').map(readRange);
  let best: Type | undefined;
  let bestQuality = 0;
  for (const type of offered) {
    const quality = qualityOf(type, ranges);
    if (quality > bestQuality) {
      best = type;
      bestQuality = quality;
    }
  }
  return best;
}

/** Answer 406, with the types that are offered. */
export function notAcceptable(offered: readonly string[]): Answer {
  return problem({
    status: 406,
    code: 'not_acceptable',
    title: 'Not acceptable.',
    detail: `The Accept header allows none of ${offered.join(', ')}.`,
    suggestions: offered.map((type) => `Accept: ${type}`),
  });
}

interface Range {
  readonly type: string;
  readonly quality: number;
}

/** The quality of a type by the most specific range that covers it, regardless of the order of the ranges. */
function qualityOf(type: string, ranges: readonly Range[]): number {
  const wholeFamily = `${type.slice(0, type.indexOf('/'))}/*`;
  for (const wanted of [type, wholeFamily, '*/*']) {
    const range = ranges.find((candidate) => candidate.type === wanted);
    if (range !== undefined) return range.quality;
  }
  return 0;
}

function readRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, quality: weight === undefined ? 1 : readQuality(weight.slice(2)) };
}

/** RFC 9110 §12.4.2: 0 to 1 with at most three decimals. An invalid quality counts as 0, which is not acceptable. */
function readQuality(text: string): number {
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
