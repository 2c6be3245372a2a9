import type { JsonObject } from '../../json.ts';
import type { Issue } from '../../outcome.ts';
import { requires, type Shape } from './description.ts';

/** An IANA name such as `Europe/Madrid`; its existence is checked where it is used. */
export const TimeZone = { type: 'string', pattern: '^[A-Za-z0-9_+/-]+$', maxLength: 64 } as const;

/** How the three date operations write their result. */
export const dateOutput = {
  format: { enum: ['iso8601', 'timestamp', 'custom'] },
  // A strftime format such as %Y-%m-%d, for `custom`.
  formatString: { type: 'string', minLength: 1, maxLength: 256 },
} as const;

/** ISO 8601 text, epoch seconds, or an object with `year` to `second`. */
export const DATE_SHAPES: readonly Shape[] = ['string', 'number', 'object'];

export function dateShape(config: JsonObject): readonly Shape[] {
  return config['format'] === 'timestamp' ? ['number'] : ['string'];
}

export function dateOutputIssues(config: JsonObject): readonly Issue[] {
  return config['format'] === 'custom' ? requires(config, 'formatString', 'for the format custom') : [];
}
