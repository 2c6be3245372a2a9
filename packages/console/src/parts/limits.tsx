import type { RateLimitStatus } from '@dragoman/protocols/a2e-workflow';

/** How much of each rate limit of an agent is used, and how much is left. */
export function LimitList({ status: { limits, remaining } }: { readonly status: RateLimitStatus }) {
  return (
    <dl class="facts limits">
      {Object.entries(limits).map(([name, most]) => {
        const left = remaining[name] ?? 0;
        return (
          <>
            <dt>{name.replaceAll('_', ' ')}</dt>
            <dd>
              <meter min={0} max={most} value={most - left} aria-label={name.replaceAll('_', ' ')} />{' '}
              {left.toLocaleString()} of {most.toLocaleString()} left
            </dd>
          </>
        );
      })}
    </dl>
  );
}
