import type { Delivery } from '@dragoman/client';
import { useState } from 'preact/hooks';
import { useAction } from '../action.ts';
import { useLive } from '../live.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Code } from '../parts/json.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Paging } from '../parts/paging.tsx';
import { Problem } from '../parts/problem.tsx';
import { NeedsKey } from '../parts/sign-in.tsx';
import { State } from '../parts/state.tsx';
import { Text, visibleText } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import { navigate, pageUrl, route, withQuery } from '../router.ts';
import { asAdmin } from '../session.ts';

/** Callbacks: delivered, waiting for the next try, and given up. */
export default function OutboxPage() {
  const admin = asAdmin.value?.admin;
  const { query } = route.value;
  const state = STATES.find((one) => one === query.get('state'));
  const cursor = query.get('cursor') ?? undefined;
  const { data, error, reload } = useLive(
    async () => admin?.outbox.list({ state, cursor }),
    [admin, state, cursor],
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
            onClick={() => navigate(withQuery({ state: one, cursor: undefined }))}
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
            A mailbox message with a callbackUrl is answered by a signed callback. <code>npx dragoman listen</code>{' '}
            receives them on this machine.
          </p>
        </Empty>
      )}
      {data?.deliveries.map((delivery) => (
        <DeliveryPanel key={delivery.id} delivery={delivery} changed={reload} />
      ))}
      <Paging cursor={cursor} next={data?.next_cursor} />
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
  const outbox = asAdmin.value?.admin.outbox;
  const { act, trouble, isBusy } = useAction();
  const [isOpen, setOpen] = useState(false);
  const host = hostOf(url);
  const change = (work: () => Promise<unknown> | undefined) => act(async () => work()).then(changed);
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
          <>
            <button type="button" class="small" disabled={isBusy} onClick={() => void change(() => outbox?.retry(id))}>
              Try again now
            </button>
            <Confirm
              label="All to this host"
              title={`Try all dead callbacks to ${visibleText(host)} again?`}
              act={async () => {
                await outbox?.retryHost(host);
                changed();
              }}
            >
              <p>Every callback to this host that was given up is sent again, with the same id and body.</p>
            </Confirm>
          </>
        )}
        {state === 'due' && (
          <Confirm
            label="Give up"
            title="Give this callback up?"
            act={async () => {
              await outbox?.giveUp(id);
              changed();
            }}
          >
            <p>It is not tried again by itself. You can have it tried again later.</p>
          </Confirm>
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
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="dim">What is sent</summary>
        {isOpen && <SentParts id={id} />}
      </details>
      <Problem error={trouble} />
    </section>
  );
}

/** The headers and the body of a callback. */
function SentParts({ id }: { readonly id: string }) {
  const outbox = asAdmin.value?.admin.outbox;
  const { data, error } = useLive(async () => outbox?.get(id), [outbox, id]);
  if (data === undefined) return <Problem error={error} />;
  const headers = Object.entries(data.headers).map(([name, value]) => `${name}: ${value}`);
  return <Code text={[...headers, '', data.body].join('\n')} label={`What is sent of ${id}`} />;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

const STATES = ['due', 'delivered', 'dead'] as const;
