import type { Check } from '../call/handler.ts';
import type { Limiter } from '../limits/limiter.ts';

/** Counts every request that starts work against the caller's limits, unless its endpoint has done so. */
export function limit(limiter: Limiter): Check {
  return (next) => (envelope, call) => {
    if (call.beside?.counted !== true) limiter.request(call.principal);
    return next(envelope, call);
  };
}
