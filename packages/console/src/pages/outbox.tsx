import type { Delivery } from '@dragoman/client';
import { useState } from 'preact/hooks';
import { useLive } from '../live.ts';
import { Empty, Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { NeedsKey } from '../parts/sign-in.tsx';
import { State } from '../parts/state.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import { navigate, pageUrl, route, withQuery } from '../router.ts';
import { asAdmin } from '../session.ts';

/** Callbacks: what was delivered, what waits for its next try, and what was given up. */
export default function OutboxPage() {
  const admin = asAdmin.value?.admin;
  const { query } = route.value;
  const state = STATES.find((one) => one === query.get('state'));
  const offset = Number(query.get('offset') ?? 0) || 0;
  const { data, error, reload } = useLive(
    async () => admin?.outbox.list({ ...(state !== undefined && { state }), offset, limit: PER_PAGE }),
    [admin, state, offset],
    5000,
  );
  if (admin === undefined) {
    return (
      <Page title="Outbox">
        <NeedsKey kind="admin" />
      </Page>
    );
  }
  return (
    <Page title="Outbox">
      <div class="bar" role="group" aria-label="State">
        {[undefined, ...STATES].map((one) => (
          <button
            type="button"
            key={one ?? 'all'}
            aria-pressed={one === state}
            onClick={() => navigate(withQuery({ state: one, offset: undefined }))}
          >
            {one ?? 'all'}
          </button>
        ))}
        {data !== undefined && <span class="dim">{data.total.toLocaleString()} callbacks</span>}
      </div>
      <Problem error={error} retry={reload} />
      {data?.deliveries.length === 0 && (
        <Empty title="No callbacks here">
          <p>
            A mailbox message with a callbackUrl is answered by a signed callback. `npx dragoman listen` receives them
            on this machine.
          </p>
        </Empty>
      )}
      {data?.deliveries.map((delivery) => (
        <DeliveryPanel key={delivery.id} delivery={delivery} changed={reload} />
      ))}
      {data !== undefined && data.total > PER_PAGE && (
        <div class="bar">
          <button
            type="button"
            disabled={offset === 0}
            onClick={() => navigate(withQuery({ offset: String(Math.max(0, offset - PER_PAGE)) }))}
          >
            Newer
          </button>
          <button
            type="button"
            disabled={offset + PER_PAGE >= data.total}
            onClick={() => navigate(withQuery({ offset: String(offset + PER_PAGE) }))}
          >
            Older
          </button>
        </div>
      )}
    </Page>
  );
}

function DeliveryPanel({ delivery, changed }: { readonly delivery: Delivery; readonly changed: () => void }) {
  const {
    id,
    agent_id: agent,
    request_id: requestId,
    url,
    state,
    attempts,
    created_at: created,
    next_at: next,
    failures,
  } = delivery;
  const [trouble, setTrouble] = useState<unknown>();
  const retry = async () => {
    try {
      await asAdmin.value?.admin.outbox.retry(id);
      setTrouble(undefined);
    } catch (error) {
      setTrouble(error);
    }
    changed();
  };
  return (
    <section class="panel" aria-label={`Callback ${id}`}>
      <div class="bar">
        <State state={state} />
        <code class="cut">
          <Text value={url} />
        </code>
        <span class="dim">
          for <Text value={agent} />, <When at={created} />, {attempts} {attempts === 1 ? 'try' : 'tries'}
          {next !== null && (
            <>
              , next <When at={next} />
            </>
          )}
        </span>
        <a href={`${pageUrl('requests', requestId)}?owner=${encodeURIComponent(agent)}`}>the request</a>
        {state === 'dead' && (
          <button type="button" class="small" onClick={() => void retry()}>
            Try again now
          </button>
        )}
      </div>
      {failures.length > 0 && (
        <details>
          <summary>
            Why the last try failed: <Text value={failures.at(-1)?.reason ?? ''} />
          </summary>
          <ol>
            {failures.map(({ at, reason, status }) => (
              <li key={at}>
                <When at={at} />: <Text value={reason} /> {status !== undefined && `(HTTP ${status})`}
              </li>
            ))}
          </ol>
        </details>
      )}
      <Problem error={trouble} />
    </section>
  );
}

const STATES = ['due', 'delivered', 'dead'] as const;
const PER_PAGE = 50;
