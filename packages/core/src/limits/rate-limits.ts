/** How much one principal may do, in sliding windows. */
export interface RateLimits {
  readonly requests_per_minute: number;
  readonly requests_per_hour: number;
  readonly requests_per_day: number;
  readonly api_calls_per_minute: number;
  readonly api_calls_per_hour: number;
}

export const DEFAULT_RATE_LIMITS: RateLimits = {
  requests_per_minute: 60,
  requests_per_hour: 1000,
  requests_per_day: 10_000,
  api_calls_per_minute: 30,
  api_calls_per_hour: 500,
};
