import type { Overview, OverviewReading } from '@dragoman/client';
import { useMemo } from 'preact/hooks';
import { useLive } from '../live.ts';
import { Chart } from '../parts/chart.tsx';
import { LimitList } from '../parts/limits.tsx';
import { Page } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { Table } from '../parts/table.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import { pageUrl } from '../router.ts';
import { asAdmin, asAgent } from '../session.ts';

/** The activity of the server, and the items that need attention. */
export default function OverviewPage() {
  return asAdmin.value === undefined ? <OwnOverview /> : <ServerOverview />;
}

function ServerOverview() {
  const admin = asAdmin.value?.admin;
  const { data, error, reload } = useLive(async (signal) => admin?.overview({ signal }), [admin], 2000);
  const { data: duties } = useLive(() => openDuties(), [admin], 10_000);
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
      {data !== undefined && <Tiles overview={data} duties={duties} />}
      {duties !== undefined && data !== undefined && (
        <Attention list={[...duties.attention, ...data.agents_down.map(downText)]} />
      )}
      {data !== undefined && (
        <>
          <Charts overview={data} />
          <div class="columns">
            <ByAgent overview={data} />
            <Routes overview={data} />
          </div>
          <div class="columns">
            <Outcomes overview={data} />
            <ByProtocol overview={data} />
          </div>
        </>
      )}
    </Page>
  );
}

function Attention({ list }: { readonly list: Duties['attention'] }) {
  return (
    <section class={list.length === 0 ? 'panel' : 'panel attention'} aria-label="What needs attention">
      {list.length === 0 ? (
        <span class="good">✓ Nothing needs attention</span>
      ) : (
        <>
          <h2>What needs attention</h2>
          <ul class="list">
            {list.map(({ text, to }) => (
              <li key={to}>
                <a href={to}>
                  <Text value={text} />
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Tiles({ overview, duties }: { readonly overview: Overview; readonly duties: Duties | undefined }) {
  const { now, history, rate_limited: limited, edge, routes } = overview;
  const latest = useMemo(() => rates([...history.slice(-1), now]).at(-1), [history, now]);
  const sending = routes.find(({ method, route: path }) => method === 'POST' && SENDING.test(path));
  return (
    <div class="tiles">
      <Tile label="requests/s" value={shown(latest?.accepted)} to={pageUrl('requests')} />
      <Tile label="running" value={now.running} to={`${pageUrl('requests')}?state=running`} />
      <Tile label="waiting" value={now.waiting} to={`${pageUrl('requests')}?state=waiting`} />
      <Tile label="failed" value={now.failed} isBad={now.failed > 0} to={`${pageUrl('requests')}?state=failed`} />
      <Tile label={`p50 ${sending?.route ?? ''}`} value={sending === undefined ? '–' : bound(sending.p50_ms)} />
      <Tile label={`p95 ${sending?.route ?? ''}`} value={sending === undefined ? '–' : bound(sending.p95_ms)} />
      <Tile label="frames/s" value={shown(latest?.frames)} />
      <Tile label="commits/s" value={shown(latest?.commits)} />
      <Tile label="open streams" value={edge.streams + edge.sockets} />
      <Tile label="rate limited" value={limited} />
      <Tile label="callbacks due" value={duties?.due ?? '–'} to={`${pageUrl('outbox')}?state=due`} />
      <Tile
        label="callbacks dead"
        value={duties?.dead ?? '–'}
        isBad={(duties?.dead ?? 0) > 0}
        to={`${pageUrl('outbox')}?state=dead`}
      />
      <Tile label="open questions" value={duties?.questions ?? '–'} to={pageUrl('questions')} />
    </div>
  );
}

function Charts({ overview: { now, history } }: { readonly overview: Overview }) {
  const points = useMemo(() => [...history, now], [history, now]);
  const perSecond = rates(points);
  return (
    <div class="columns">
      <Chart
        title="Requests per second"
        times={perSecond.map(({ at }) => at)}
        lines={[
          { label: 'accepted', colour: '--accent', values: perSecond.map(({ accepted }) => accepted) },
          { label: 'failed', colour: '--bad', values: perSecond.map(({ failed: one }) => one) },
        ]}
      />
      <Chart
        title="Running and waiting"
        times={points.map(({ at }) => at / 1000)}
        lines={[
          { label: 'running', colour: '--accent', values: points.map(({ running }) => running) },
          { label: 'waiting', colour: '--warn', values: points.map(({ waiting }) => waiting) },
        ]}
      />
    </div>
  );
}

interface TileParts {
  readonly label: string;
  readonly value: number | string;
  readonly isBad?: boolean;
  /** The page with more about it. */
  readonly to?: string;
}

function Tile({ label, value, isBad = false, to }: TileParts) {
  const content = (
    <>
      <strong class={isBad ? 'bad' : ''}>{typeof value === 'number' ? value.toLocaleString() : value}</strong>
      <span title={label}>{label}</span>
    </>
  );
  return to === undefined ? (
    <div class="tile">{content}</div>
  ) : (
    <a class="tile" href={to}>
      {content}
    </a>
  );
}

/** How many requests succeeded, and how many failed with each error code. */
function Outcomes({ overview: { outcomes } }: { readonly overview: Overview }) {
  const all = Object.entries(outcomes).sort(([, one], [, other]) => other - one);
  return (
    <section class="panel">
      <h2>Outcomes since the start</h2>
      {all.length === 0 && (
        <p class="dim">
          None has ended yet. <a href={pageUrl('chat')}>Talk to an agent</a> or{' '}
          <a href={pageUrl('connect')}>connect a client</a>.
        </p>
      )}
      <dl class="counts">
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
      <Table head={['Route', 'Requests', 'Errors', 'p50', 'p95']} numbers={['Requests', 'Errors', 'p50', 'p95']}>
        {routes.slice(0, 8).map(({ method, route, count, errors, p50_ms: p50, p95_ms: p95 }) => (
          <tr key={`${method} ${route}`}>
            <td class="mono fill" title={`${method} ${route}`}>
              {method} {route}
            </td>
            <td class="number">{count.toLocaleString()}</td>
            <td class={`number ${errors > 0 ? 'bad' : ''}`}>{errors}</td>
            <td class="number">{bound(p50)}</td>
            <td class="number">{bound(p95)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function ByProtocol({ overview: { by_protocol: counts } }: { readonly overview: Overview }) {
  const all = Object.entries(counts).sort(([, one], [, other]) => other - one);
  return (
    <section class="panel">
      <h2>Protocols since the start</h2>
      {all.length === 0 && <p class="dim">None yet.</p>}
      <dl class="counts">
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
      <h2>Agents since the start</h2>
      {agents.length === 0 && (
        <p class="dim">
          No requests yet. <a href={pageUrl('chat')}>Talk to an agent.</a>
        </p>
      )}
      {agents.length > 0 && (
        <Table
          head={['Agent', 'Requests', 'Failed', 'Running', 'Waiting']}
          numbers={['Requests', 'Failed', 'Running', 'Waiting']}
        >
          {agents.slice(0, 8).map(({ agent, accepted, failed, running, waiting }) => (
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
        </Table>
      )}
    </section>
  );
}

/** The overview of an agent: its limits, and links to its pages. */
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
          <LimitList status={data} />
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

/** What waits for a person, and what waits in the outbox. */
interface Duties {
  readonly due: number;
  readonly dead: number;
  readonly questions: number;
  readonly attention: readonly { readonly text: string; readonly to: string }[];
}

async function openDuties(): Promise<Duties | undefined> {
  const admin = asAdmin.value?.admin;
  if (admin === undefined) return undefined;
  const [dead, due, tools, cards, questions, logins, servers] = await Promise.all([
    admin.outbox.list({ state: 'dead', limit: 1 }),
    admin.outbox.list({ state: 'due', limit: 1 }),
    admin.tools.list(),
    admin.agents.heldCards(),
    admin.questions.list(),
    admin.failedLogins(),
    admin.tools.mcpServers(),
  ]);
  const found: { text: string; to: string }[] = [];
  if (questions.length > 0) found.push({ text: counted(questions.length, 'open question'), to: pageUrl('questions') });
  if (dead.total > 0) {
    const were = dead.total === 1 ? 'was' : 'were';
    found.push({ text: `${counted(dead.total, 'callback')} ${were} given up`, to: `${pageUrl('outbox')}?state=dead` });
  }
  for (const { server_id: id, name = id ?? '', error } of servers)
    if (error !== undefined) found.push({ text: `The MCP server ${name} is down: ${error}`, to: pageUrl('tools') });
  for (const name of tools.undecided)
    found.push({ text: `The tool ${name} has changed and is held`, to: pageUrl('tools', name) });
  for (const id of cards.held) found.push({ text: `The card of ${id} has changed and is held`, to: pageUrl('agents') });
  const recent = logins.recent.filter(({ last_at: at }) => Date.now() - Date.parse(at) < LATELY_MS);
  if (recent.length > 0) {
    const [first] = recent;
    const others = recent.length === 1 ? '' : ` and ${counted(recent.length - 1, 'other address')}`;
    found.push({ text: `Failed logins from ${first?.address}${others} in the last hour`, to: pageUrl('keys') });
  }
  return { due: due.total, dead: dead.total, questions: questions.length, attention: found };
}

function downText({ agent, health }: Overview['agents_down'][number]): Duties['attention'][number] {
  const text =
    health === 'away' ? `The agent ${agent} is not connected` : `The agent ${agent} did not answer its last requests`;
  return { text, to: `${pageUrl('requests')}?agent=${encodeURIComponent(agent)}` };
}

function counted(count: number, noun: string): string {
  const plural = noun.endsWith('s') ? `${noun}es` : `${noun}s`;
  return `${count.toLocaleString()} ${count === 1 ? noun : plural}`;
}

interface Rate {
  /** Seconds since 1970. */
  readonly at: number;
  readonly accepted: number;
  readonly failed: number;
  readonly frames: number;
  readonly commits: number;
}

/** The rates per second between readings of the counters. */
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

/** The routes over which agents get requests. */
const SENDING = /^\/(?:e2a|a2a|lf-a2a|acp|mcp|v1)\b/;

/** An hour. */
const LATELY_MS = 3_600_000;

function shown(rate: number | undefined): number | string {
  return rate ?? '–';
}

function bound(milliseconds: number | null): string {
  if (milliseconds === null) return '> 60 s';
  return milliseconds < 1000 ? `${milliseconds} ms` : `${milliseconds / 1000} s`;
}
