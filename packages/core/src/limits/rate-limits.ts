import type { RateLimits } from '../call/principal.ts';

export const DEFAULT_RATE_LIMITS: RateLimits = {
  requests_per_minute: 60,
  requests_per_hour: 1000,
  requests_per_day: 10_000,
  api_calls_per_minute: 30,
  api_calls_per_hour: 500,
};
