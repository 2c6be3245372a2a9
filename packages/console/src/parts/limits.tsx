import type { RateLimitStatus } from '@dragoman/protocols/a2e-workflow';

/** The rate limits of an agent: how much of each is used, and left. */
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
