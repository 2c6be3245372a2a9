import type { Config } from './config-schema.ts';

/** How long what has ended is kept, requests and executions alike, where the operator says it. */
export function keptAnswers({ keep_answers_hours: hours }: Config): { readonly keepMs?: number } {
  return hours === undefined ? {} : { keepMs: hours * ONE_HOUR };
}

const ONE_HOUR = 3600 * 1000;
