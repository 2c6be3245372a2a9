import type { Overview, OverviewReading } from '@dragoman/client';
import { useMemo } from 'preact/hooks';
import { useLive } from '../live.ts';
import { Chart } from '../parts/chart.tsx';
import { Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import { pageUrl } from '../router.ts';
import { asAdmin, asAgent } from '../session.ts';

/** What the server is doing, and what needs somebody. */
export default function OverviewPage() {
  return asAdmin.value === undefined ? <OwnOverview /> : <ServerOverview />;
}

function ServerOverview() {
  const admin = asAdmin.value?.admin;
  const { data, error, reload } = useLive(async (signal) => admin?.overview({ signal }), [admin], 2000);
  const { data: attention } = useLive(() => needsAttention(), [admin], 10_000);
  return (
    <Page
      title="Overview"
      actions={
        data && (
          <span class="dim">
            version {data.version}, started <When at={data.started_at} />
          </span>
        )
      }
    >
      <Problem error={error} retry={reload} />
      {data !== undefined && <Numbers overview={data} />}
      <section class="panel" aria-label="What needs attention">
        <h2>What needs attention</h2>
        {attention === undefined ? (
          <p class="dim">Looking…</p>
        ) : attention.length === 0 ? (
          <p class="good">Nothing: no open question, no callback that was given up, no changed tool or card.</p>
        ) : (
          <ul>
            {attention.map(({ text, to }) => (
              <li key={to}>
                <a href={to}>
                  <Text value={text} />
                </a>
              </li>
            ))}
          </ul>
        )}
      </section>
      {data !== undefined && (
        <div class="columns">
          <Outcomes overview={data} />
          <ByProtocol overview={data} />
          <ByAgent overview={data} />
          <Routes overview={data} />
        </div>
      )}
    </Page>
  );
}

function Numbers({ overview }: { readonly overview: Overview }) {
  const { now, history, rate_limited: limited, failed_logins: logins, edge } = overview;
  const points = useMemo(() => [...history, now], [history, now]);
  const perSecond = rates(points);
  const latest = perSecond.at(-1);
  return (
    <>
      <div class="tiles">
        <Tile label="requests/s" value={shown(latest?.accepted)} />
        <Tile label="running" value={now.running} />
        <Tile label="waiting" value={now.waiting} />
        <Tile label="requests in all" value={now.accepted} />
        <Tile label="failed" value={now.failed} isBad={now.failed > 0} />
        <Tile label="frames/s" value={shown(latest?.frames)} />
        <Tile label="commits/s" value={shown(latest?.commits)} />
        <Tile label="rate limited" value={limited} />
        <Tile label="failed logins" value={logins} isBad={logins > 0} />
        <Tile label="open streams" value={edge.streams + edge.sockets} />
      </div>
      <div class="columns">
        <Chart
          title="Requests per second, last hour"
          times={perSecond.map(({ at }) => at)}
          lines={[
            { label: 'accepted', colour: '--accent', values: perSecond.map(({ accepted }) => accepted) },
            { label: 'failed', colour: '--bad', values: perSecond.map(({ failed: one }) => one) },
          ]}
        />
        <Chart
          title="Running and waiting, last hour"
          times={points.map(({ at }) => at / 1000)}
          lines={[
            { label: 'running', colour: '--accent', values: points.map(({ running }) => running) },
            { label: 'waiting', colour: '--warn', values: points.map(({ waiting }) => waiting) },
          ]}
        />
      </div>
    </>
  );
}

function Tile({
  label,
  value,
  isBad = false,
}: {
  readonly label: string;
  readonly value: number | string;
  readonly isBad?: boolean;
}) {
  return (
    <div class="tile">
      <strong class={isBad ? 'bad' : ''}>{typeof value === 'number' ? value.toLocaleString() : value}</strong>
      <span>{label}</span>
    </div>
  );
}

/** How requests ended, by the codes of their errors. */
function Outcomes({ overview: { outcomes } }: { readonly overview: Overview }) {
  const all = Object.entries(outcomes).sort(([, one], [, other]) => other - one);
  return (
    <section class="panel">
      <h2>How requests ended since the start</h2>
      {all.length === 0 && (
        <p class="dim">
          None has ended yet. <a href={pageUrl('chat')}>Talk to an agent</a> or{' '}
          <a href={pageUrl('connect')}>connect a client</a>.
        </p>
      )}
      <dl class="facts">
        {all.map(([outcome, count]) => (
          <>
            <dt>{outcome}</dt>
            <dd class={outcome === 'succeeded' ? '' : 'bad'}>{count.toLocaleString()}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

function Routes({ overview: { routes } }: { readonly overview: Overview }) {
  return (
    <section class="panel">
      <h2>Busiest routes since the start</h2>
      <div class="scroll" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>Route</th>
              <th class="number">Requests</th>
              <th class="number">Server errors</th>
              <th class="number">p50 within</th>
              <th class="number">p95 within</th>
            </tr>
          </thead>
          <tbody>
            {routes.map(({ method, route, count, errors, p50_ms: p50, p95_ms: p95 }) => (
              <tr key={`${method} ${route}`}>
                <td class="mono">
                  {method} {route}
                </td>
                <td class="number">{count.toLocaleString()}</td>
                <td class={`number ${errors > 0 ? 'bad' : ''}`}>{errors}</td>
                <td class="number">{bound(p50)}</td>
                <td class="number">{bound(p95)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function ByProtocol({ overview: { by_protocol: counts } }: { readonly overview: Overview }) {
  const all = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return (
    <section class="panel">
      <h2>Requests by protocol since the start</h2>
      {all.length === 0 && <p class="dim">None yet.</p>}
      <dl class="facts">
        {all.map(([protocol, count]) => (
          <>
            <dt>
              <a href={`${pageUrl('requests')}?protocol=${encodeURIComponent(protocol)}`}>
                <Text value={protocol} />
              </a>
            </dt>
            <dd>{count.toLocaleString()}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

function ByAgent({ overview: { by_agent: agents } }: { readonly overview: Overview }) {
  return (
    <section class="panel">
      <h2>Requests by agent since the start</h2>
      <div class="scroll" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>Agent</th>
              <th class="number">Requests</th>
              <th class="number">Failed</th>
              <th class="number">Running</th>
              <th class="number">Waiting</th>
            </tr>
          </thead>
          <tbody>
            {agents.slice(0, 20).map(({ agent, accepted, failed, running, waiting }) => (
              <tr key={agent}>
                <td>
                  <a href={`${pageUrl('requests')}?agent=${encodeURIComponent(agent)}`}>
                    <Text value={agent} />
                  </a>
                </td>
                <td class="number">{accepted.toLocaleString()}</td>
                <td class={`number ${failed > 0 ? 'bad' : ''}`}>{failed.toLocaleString()}</td>
                <td class="number">{running}</td>
                <td class="number">{waiting}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** An agent sees its own limits, and is pointed to what it can do. */
function OwnOverview() {
  const client = asAgent.value;
  const { data, error, reload } = useLive(async () => client?.workflows.limits(), [client], 5000);
  return (
    <Page title="Overview">
      <Problem error={error} retry={reload} />
      {data !== undefined && (
        <section class="panel">
          <h2>
            Limits of <Text value={data.agent_id} />
          </h2>
          <dl class="facts">
            {Object.entries(data.limits).map(([name, most]) => (
              <>
                <dt>{name.replaceAll('_', ' ')}</dt>
                <dd>
                  {(data.remaining[name] ?? 0).toLocaleString()} of {most.toLocaleString()} left
                </dd>
              </>
            ))}
          </dl>
        </section>
      )}
      <section class="panel">
        <h2>What you can do here</h2>
        <ul>
          <li>
            <a href={pageUrl('chat')}>Talk to an agent</a>
          </li>
          <li>
            <a href={pageUrl('requests')}>See your requests and their answers</a>
          </li>
          <li>
            <a href={pageUrl('workflows')}>Check, plan and run a workflow</a>
          </li>
          <li>
            <a href={pageUrl('tools')}>Call a tool</a>
          </li>
        </ul>
      </section>
    </Page>
  );
}

async function needsAttention(): Promise<{ text: string; to: string }[]> {
  const admin = asAdmin.value?.admin;
  if (admin === undefined) return [];
  const [dead, tools, cards, questions, logins] = await Promise.all([
    admin.outbox.list({ state: 'dead', limit: 1 }),
    admin.tools.list(),
    admin.agents.heldCards(),
    admin.questions.list(),
    admin.failedLogins(),
  ]);
  const found: { text: string; to: string }[] = [];
  if (dead.total > 0)
    found.push({ text: `${dead.total} callbacks were given up`, to: `${pageUrl('outbox')}?state=dead` });
  for (const name of tools.undecided)
    found.push({ text: `The tool ${name} has changed and is held`, to: pageUrl('tools', name) });
  for (const id of cards.held) found.push({ text: `The card of ${id} has changed and is held`, to: pageUrl('agents') });
  const lately = logins.recent.filter(({ last_at: at }) => Date.now() - Date.parse(at) < LATELY_MS);
  if (lately.length > 0) {
    const [first] = lately;
    const others = lately.length === 1 ? '' : ` and ${lately.length - 1} other addresses`;
    found.push({ text: `Failed logins from ${first?.address}${others} in the last hour`, to: pageUrl('keys') });
  }
  if (questions.length > 0) found.push({ text: `${questions.length} open questions`, to: pageUrl('questions') });
  return found;
}

interface Rate {
  /** Seconds since 1970. */
  readonly at: number;
  readonly accepted: number;
  readonly failed: number;
  readonly frames: number;
  readonly commits: number;
}

/** Counters as what they grew by each second. */
function rates(points: readonly OverviewReading[]): Rate[] {
  return points.slice(1).flatMap((point, at) => {
    const before = points[at];
    const seconds = before === undefined ? 0 : (point.at - before.at) / 1000;
    if (before === undefined || seconds < 1) return [];
    const per = (name: 'accepted' | 'failed' | 'frames' | 'commits') =>
      Math.round(((point[name] - before[name]) / seconds) * 10) / 10;
    return [
      {
        at: point.at / 1000,
        accepted: per('accepted'),
        failed: per('failed'),
        frames: per('frames'),
        commits: per('commits'),
      },
    ];
  });
}

/** An hour. */
const LATELY_MS = 3_600_000;

function shown(rate: number | undefined): number | string {
  return rate ?? '–';
}

function bound(milliseconds: number | null): string {
  if (milliseconds === null) return '> 60 s';
  return milliseconds < 1000 ? `${milliseconds} ms` : `${milliseconds / 1000} s`;
}
