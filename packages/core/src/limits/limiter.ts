import type { Principal, RateLimits } from '../call/principal.ts';
import { hasNoMembers } from '../json/is-empty.ts';
import type { Clock } from '../ports/ports.ts';
import { refuse } from '../refusals/refused.ts';
import type { CounterStore } from '../store/store.ts';
import { DEFAULT_RATE_LIMITS } from './rate-limits.ts';
import { SlidingWindows, type Window, type WindowState } from './sliding-window.ts';

export interface LimiterOptions {
  readonly clock: Clock;
  readonly limits?: Partial<RateLimits>;
  /** The counts shared with other processes. Default: none. */
  readonly counters?: CounterStore;
}

/** The budgets of principals per minute, hour and day, shared by all endpoints. */
export class Limiter {
  /** Requests refused since the start. */
  refusals = 0;
  /** For endpoints with further limits of an agent: counted, shared and saved with these. */
  readonly windows: SlidingWindows;
  #limits: RateLimits = DEFAULT_RATE_LIMITS;
  #usualWindows: readonly Window[] = [];
  #usualCallWindows: readonly Window[] = [];

  constructor({ clock, limits = {}, counters }: LimiterOptions) {
    this.windows = new SlidingWindows({ clock, counters });
    this.change(limits);
  }

  /** Changes the limits. The counts are kept. */
  change(limits: Partial<RateLimits>): void {
    this.#limits = { ...DEFAULT_RATE_LIMITS, ...limits };
    this.#usualWindows = requestWindows(this.#limits);
    this.#usualCallWindows = callWindows(this.#limits);
  }

  /**
   * Await this before `request`, where several processes count the same callers; `undefined` when nothing is to be
   * awaited.
   */
  lease(principal: Principal): Promise<void> | undefined {
    return this.windows.lease(principal.id, this.#requestWindowsOf(principal));
  }

  /** Like `lease`, before `apiCall`. */
  leaseApiCall(principal: Principal): Promise<void> | undefined {
    return this.windows.lease(principal.id, this.#callWindowsOf(principal));
  }

  /** Counts one request, or refuses it with the wait. Returns the principal's counts in every window. */
  request(principal: Principal): readonly WindowState[] {
    return this.#take(principal, this.#requestWindowsOf(principal), 'requests');
  }

  /** Counts one call to an API, or refuses it with the wait. */
  apiCall(principal: Principal): readonly WindowState[] {
    return this.#take(principal, this.#callWindowsOf(principal), 'API calls');
  }

  /** The principal's counts in every window of requests, without counting one. */
  states(principal: Principal): WindowState[] {
    return this.windows.states(principal.id, this.#requestWindowsOf(principal));
  }

  /** Like `states`, including the windows of API calls. */
  allStates(principal: Principal): WindowState[] {
    const limits = this.limitsOf(principal);
    return this.windows.states(principal.id, [...requestWindows(limits), ...callWindows(limits)]);
  }

  limitsOf(principal: Principal): RateLimits {
    return { ...this.#limits, ...principal.limits };
  }

  /** Most callers have the default limits, whose windows are made only once. */
  #requestWindowsOf(principal: Principal): readonly Window[] {
    return hasNoMembers(principal.limits) ? this.#usualWindows : requestWindows(this.limitsOf(principal));
  }

  #callWindowsOf(principal: Principal): readonly Window[] {
    return hasNoMembers(principal.limits) ? this.#usualCallWindows : callWindows(this.limitsOf(principal));
  }

  #take(principal: Principal, windows: readonly Window[], what: string): readonly WindowState[] {
    const { allowed, states } = this.windows.take(principal.id, windows);
    if (allowed) return states;
    this.refusals++;
    const full = states.filter((state) => state.remaining < 1).reduce((a, b) => (b.retryAfter > a.retryAfter ? b : a));
    const { limit, seconds } = full.window;
    refuse(
      'rate_limited',
      { retry_after: full.retryAfter, limit, window_seconds: seconds },
      `Rate limit exceeded: ${limit} ${what} per ${PERIODS[seconds]}.`,
    );
  }

  /** Returns the time of the newest count; 0 when there is none. */
  load(store: CounterStore): Promise<number> {
    return this.windows.load(store);
  }

  save(store: CounterStore): Promise<void> {
    return this.windows.save(store);
  }
}

function requestWindows(limits: RateLimits): Window[] {
  return [
    { name: 'requests_per_minute', limit: limits.requests_per_minute, seconds: 60 },
    { name: 'requests_per_hour', limit: limits.requests_per_hour, seconds: 3600 },
    { name: 'requests_per_day', limit: limits.requests_per_day, seconds: 86_400 },
  ];
}

function callWindows(limits: RateLimits): Window[] {
  return [
    { name: 'api_calls_per_minute', limit: limits.api_calls_per_minute, seconds: 60 },
    { name: 'api_calls_per_hour', limit: limits.api_calls_per_hour, seconds: 3600 },
  ];
}

const PERIODS: Readonly<Record<number, string>> = { 60: 'minute', 3600: 'hour', 86400: 'day' };
