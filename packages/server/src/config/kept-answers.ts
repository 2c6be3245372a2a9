import type { CompleteConfig } from './complete-config.ts';

/** How long finished requests and executions are kept. */
export function keptAnswersMs({ keep_answers_hours: hours }: CompleteConfig): number {
  return hours * ONE_HOUR;
}

const ONE_HOUR = 3600 * 1000;
